"""What changing a network means: addresses, switches and above all cables."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, always, appended, comes, edit, reordered

_LAID = "Where a cable ends follows from it: cables that hang have to be moved."
_PULL = "Pull cables by the list of those that come and go, rail by rail, with the hosts of a leaf drained; check with the port map (ibnetdiscover or LLDP) before jobs run."
_BIG = "superpod-h100"
_FLY = ("fabrics.compute.topology=dragonfly", "fabrics.compute.unit=null", "fabrics.compute.group={hosts: 4, leaves: 8, links: 4, between: 2}")
_FLY_PLUS = ("fabrics.compute.topology=dragonfly-plus", "fabrics.compute.unit=null", "fabrics.compute.group={hosts: 16, leaves: 8, spines: 8, links: 4, between: 2}")
_QUOTE = ("fabrics.compute.quoted={nodes: 127}",)


def _cables(example: str, base: str = _BIG, reason: str = _LAID, also: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    return (Rule(always, Effect.RECABLE, reason, _PULL, edit(base, example, also=also)),)


def _qos(key: str, value: int) -> tuple[Rule, ...]:
    return (
        Rule(
            always,
            Effect.RESTART,
            "Switches, hosts, NCCL and LNet must all say the same: while they differ, RDMA traffic travels in a class without flow control and is dropped.",
            "Hold the jobs (scontrol update PartitionName=<each> State=DOWN), configure switches and hosts together, then start the next job with the new nccl.conf.",
            edit("lab", f"fabrics.compute.qos.{key}={value}"),
        ),
    )


def _quoted(key: str) -> tuple[Rule, ...]:
    return (Rule(always, Effect.NOTHING, "A figure of an offer, which the design is held against; nothing is built by it.", "Nothing.", edit(_BIG, f"fabrics.compute.quoted.{key}=7", also=_QUOTE)),)


TABLES: dict[str, Table] = {
    "Fabric": {
        "site": _cables("fabrics.mgmt.site=spare", "lab", "The switches stand elsewhere, and every cable with them.", ("sites.spare={kind: on-prem}",)),
        "purpose": (Rule(always, Effect.STOP, "Which port of a host is on it, which addresses it has and what crosses it follow from the purpose.", "Let the queue run empty; configure hosts and switches anew, and move cables to the ports that the port map names.", edit("lab", "fabrics.mgmt.purpose=in-band")),),
        "connects": (
            Rule(reordered, Effect.STOP, "The order is the address plan: the hosts of every pool but the first few get other addresses, and their switch ports move.", "Keep the order and append at the end.", edit(_BIG, "fabrics.mgmt.connects=[oss, gpu, mds, ctl, login, ufm]")),
            Rule(appended, Effect.RECABLE, "The new pool's hosts get ports and addresses behind those that are there.", "Pull the new cables only, then bring the ports up; check the list of cables that move, which should be empty.", edit("lab", "fabrics.compute.connects=[gpu, ctl]")),
            Rule(always, Effect.RECABLE, "Hosts leave the network, or stand in the middle of the address plan: those behind them get other ports and addresses.", "Append at the end; else drain the fleet, move cables and addresses together.", edit("lab", "fabrics.mgmt.connects=[gpu]")),
        ),
        "technology": (Rule(always, Effect.STOP, "InfiniBand and Ethernet are other switches, other port modes (mlxconfig LINK_TYPE), other drivers of NCCL and Lustre: no job runs across while it changes.", "Let the queue run empty, unmount what crosses it, change switches, cables and port modes, then run the acceptance tests before the first job.", edit("lab", "fabrics.mgmt.technology=roce")),),
        "topology": _cables("fabrics.compute.topology=fat-tree", also=("fabrics.compute.unit=null",)),
        "switch": _cables("fabrics.mgmt.switch=sn4600c", "lab", "Another switch has other ports: leaves, spines and every cable on them are laid anew."),
        "spine": _cables("fabrics.mgmt.spine=sn4600c", "lab", "Other spines have other ports: every cable above the leaves is laid anew."),
        "unit": _cables("fabrics.compute.unit=16"),
        "units": _cables("fabrics.compute.units=[31, 32, 31]"),
        "numbering": _cables("fabrics.compute.numbering=round-robin", reason="Which host is in which unit follows from it: every host but a few moves to other leaves."),
        "oversubscription": _cables("fabrics.storage.oversubscription=2.0", reason="More or fewer uplinks of every leaf, and other numbers of spines."),
        "spine_oversubscription": _cables("fabrics.storage.spine_oversubscription=2.0", reason="More or fewer links from spines to cores."),
        "tiers": _cables("fabrics.compute.tiers=3", reason="Cores come or go: every cable above the leaves is laid anew."),
        "pod": _cables("fabrics.compute.pod=2"),
        "spines": _cables("fabrics.compute.spines=32", reason="The uplinks of every leaf are dealt over another number of spines."),
        "split": _cables("fabrics.compute.split=rotating"),
        "cores": _cables("fabrics.compute.cores=fewest"),
        "rail_groups": _cables("fabrics.compute.rail_groups=true", reason="Every rail has spines of its own: all cables above the leaves move."),
        "planes": _cables("fabrics.compute.planes=2", reason="Every port of a host is split over the planes: other cables, other switches, other addresses."),
        "manager": (
            Rule(comes, Effect.RESTART, "A subnet manager starts; until it sweeps, no InfiniBand port is active. On hosts that the fabric does not connect it takes ports of leaves.", "Start it where no other one runs: two masters of unlike settings fight over the subnet.", edit(_BIG, "fabrics.storage.manager={kind: opensm, pool: mds}", old="fabrics.storage.manager=null")),
            Rule(always, Effect.STOP, "An InfiniBand subnet without a manager gives no address to a port that comes up: what restarts falls off the fabric.", "Keep one; let the switches' own manager take over (it must be started there) before this one goes.", edit(_BIG, "fabrics.storage.manager=null")),
        ),
        "interface": (Rule(always, Effect.RESTART, "The name stands in NCCL_SOCKET_IFNAME and in the hosts' network files: a job that starts while hosts and files differ finds no peer.", "Rename the port on the hosts and put nccl.conf there in one step; jobs that run keep their connections.", edit("lab", "fabrics.mgmt.interface=bond0")),),
        "subnet": (Rule(always, Effect.STOP, "Every host gets another address: Slurm, Lustre (whose targets carry NIDs) and NFS know the old ones.", "Let the queue run empty, unmount, stop the daemons, roll the new addresses out everywhere at once, then start again; a Lustre on this fabric needs tunefs.lustre --writeconf.", edit("lab", "fabrics.mgmt.subnet=10.90.0.0/16")),),
        "os": (Rule(always, Effect.STOP, "Another operating system is installed on each switch (ONIE), which forwards nothing meanwhile; its configuration is another file.", "Switch by switch: drain the hosts of a leaf, install, load its file from fabric/{name}/, test, resume.", edit("lab", "fabrics.compute.os=sonic")),),
    },
    "FabricManager": {
        "kind": (Rule(always, Effect.RESTART, "UFM and opensm are never masters of one subnet at a time; traffic that runs goes on while none is master, ports that come up wait. They take different numbers of leaf ports.", "Stop the old one, start the new one, wait for its sweep; see the list of cables for the ports it takes.", edit(_BIG, "fabrics.storage.manager={kind: ufm, pool: mds}")),),
        "pool": (Rule(always, Effect.RESTART, "The manager moves to other hosts, which may need ports of their own on the leaves.", "Start it on the new hosts as standby, then stop the old one: the standby takes over (SMInfo).", edit(_BIG, "fabrics.storage.manager.pool=oss")),),
    },
    "Qos": {"dscp": _qos("dscp", 24), "priority": _qos("priority", 4), "cnp_dscp": _qos("cnp_dscp", 46), "cnp_priority": _qos("cnp_priority", 7)},
    "GroupSize": {
        "hosts": _cables("fabrics.compute.group.hosts=8", also=_FLY),
        "leaves": _cables("fabrics.compute.group.leaves=16", also=_FLY),
        "spines": _cables("fabrics.compute.group.spines=4", also=_FLY_PLUS),
        "links": _cables("fabrics.compute.group.links=8", also=_FLY),
        "between": _cables("fabrics.compute.group.between=4", also=_FLY),
    },
    "Quoted": {key: _quoted(key) for key in ("nodes", "gpus", "tiers", "switches", "leaf", "spine", "core", "host_cables", "leaf_spine_cables", "spine_core_cables")},
}
