"""What changing a version, or a variable of NCCL, means."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, always, edit, grows, reordered

_SET = ("nccl={set: {NCCL_IB_TIMEOUT: '22'}, reason: slow routes}",)


def _next_job(key: str, version: str, reason: str) -> tuple[Rule, ...]:
    return (Rule(always, Effect.NOTHING, reason, "Install it beside the old one before the next start; run the acceptance tests once.", edit("lab", f"software.{key}='{version}'")),)


TABLES: dict[str, Table] = {
    "Software": {
        "driver": (Rule(always, Effect.DRAIN, "The kernel module cannot be exchanged while a process holds a GPU, and user-space libraries of another version fail until it is (\"Driver/library version mismatch\"); on NVSwitch machines Fabric Manager must have the very same version.", "Per host: scontrol update NodeName=<host> State=DRAIN Reason=driver; scontrol reboot ASAP nextstate=RESUME <host> after the installation; never half a job's hosts.", edit("lab", "software.driver='575'")),),
        "nccl": _next_job("nccl", "2.28.3", "A job loads NCCL when it starts; all its ranks must load the same version. Jobs that run keep theirs."),
        "deepspeed": _next_job("deepspeed", "0.19.7", "A job loads DeepSpeed when it starts. Checkpoints of ZeRO are read by later versions; do not go back without trying it."),
        "megatron": _next_job("megatron", "0.16.0", "A job loads Megatron when it starts. Distributed checkpoints are read by later versions; do not go back without trying it."),
        "lustre": (
            Rule(grows, Effect.STOP, "Servers are upgraded with the file system down, or one by one with failover; a client's module is exchanged only while nothing is mounted. Clients and servers one release apart work together (Lustre Operations Manual, Upgrading).", "Save what cannot be lost; servers first (MGS, MDTs, OSTs), then clients, drained: umount, lustre_rmmod, install, mount.", edit("superpod-h100", "software.lustre='2.16'")),
            Rule(always, Effect.STOP, "Targets may use features on disk that an older server does not know and refuses to mount.", "Do not go back on servers that have run the new version for longer than a test; ask the release notes.", edit("superpod-h100", "software.lustre='2.14'")),
        ),
        "time_servers": (
            Rule(reordered, Effect.NOTHING, "chrony weighs all servers; their order is none.", "Nothing.", edit("lab", "software.time_servers=[b.example.com, a.example.com]", old="software.time_servers=[a.example.com, b.example.com]")),
            Rule(always, Effect.RESTART, "chronyd reads its servers at its start. Clocks apart by more than five minutes make munge refuse credentials, and Slurm with it.", "Put chrony.conf on every host and restart chronyd; chronyc tracking should show a small offset before the next host.", edit("lab", "software.time_servers=[ntp1.example.com]")),
        ),
    },
    "Nccl": {
        "set": (Rule(always, Effect.NOTHING, "NCCL reads its variables when a job starts: jobs that run keep theirs, and a job whose hosts have unlike files may hang.", "Put nccl.conf on all GPU hosts before the next start; run nccl-tests once to see the rate.", edit("lab", "nccl.set.NCCL_IB_TIMEOUT='23'", also=_SET)),),
        "reason": (Rule(always, Effect.NOTHING, "A comment in the file.", "Nothing.", edit("lab", "nccl.reason=slower routes", also=_SET)),),
    },
}
