"""What changing a store means: the section where a wrong edit costs data."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, When, always, appended, edit, grows, reordered

_GUARD = "prevent_destroy in storage.tf refuses it, and the whole plan fails with it"
_NEW_ONE = "Leave {name} as it is; add a store under a new name, copy the data (lfs mirror, rsync or a data repository), point the jobs there, then remove {name}."
_ONE = ("nodes.ossb={site: hall-a, system: lustre-oss, count: 8}", "nodes.mdsb={site: hall-a, system: lustre-mds, count: 2}")
_same_name = When("Lustre's name stays what the section's makes it", lambda s: (s.change.old or str(s.change.path[1])[:8].rstrip("-")) == (s.change.new or str(s.change.path[1])[:8].rstrip("-")))

TABLES: dict[str, Table] = {
    "Lustre": {
        "site": (Rule(always, Effect.DESTROY, "The servers stand elsewhere: they are other disks, which hold nothing of the old file system.", _NEW_ONE, edit("superpod-h100", "storage.scratch.site=hall-b", also=("sites.hall-b={kind: on-prem}",))),),
        "servers": (Rule(always, Effect.DESTROY, "Objects lie on the disks of the servers that are named: blank disks of other servers are formatted empty, and files whose objects lay on the old ones are gone.", "To grow, raise the count of the pool instead; to move, add a second file system and copy.", edit("superpod-h100", "storage.scratch.servers=ossb", also=_ONE)),),
        "metadata": (Rule(always, Effect.DESTROY, "The names of all files and the management target lie on the metadata servers: without them the objects are nameless.", "Move an MDT by the backup procedure of the Lustre Operations Manual (chapter 18), not by this key.", edit("superpod-h100", "storage.scratch.metadata=mdsb", also=_ONE)),),
        "fabric": (Rule(always, Effect.STOP, "Targets and clients know each other by their NIDs, addresses on that fabric: on another one each target needs tunefs.lustre --writeconf with the file system down.", "Unmount everywhere, stop all targets, change the NIDs as the Lustre Operations Manual has it (section 14.5), start MGS, MDTs, OSTs, clients in this order.", edit("superpod-h100", "storage.scratch.fabric=mgmt")),),
        "fsname": (
            Rule(_same_name, Effect.NOTHING, "It is the name that the file system has already.", "Nothing.", edit("superpod-h100", "storage.scratch.fsname=scratch")),
            Rule(always, Effect.DESTROY, "The name is written on every target when it is formatted: a target of {old} cannot be started under {new}, and one that is formatted anew is empty.", "Keep {old}, and change mount when only the path should differ; an offline rename is tunefs.lustre --rename with --writeconf on all targets.", edit("superpod-h100", "storage.scratch.fsname=work")),
        ),
        "capacity": (
            Rule(grows, Effect.NOTHING, "What is promised is held against the servers; disks come with servers, at the count of their pool.", "Raise the count of the server pool where a check says that it holds less.", edit("superpod-h100", "storage.scratch.capacity=11PB")),
            Rule(always, Effect.NOTHING, "Less is promised of the same servers; nothing is formatted or removed.", "Nothing.", edit("superpod-h100", "storage.scratch.capacity=9PB")),
        ),
        "read": (Rule(always, Effect.NOTHING, "A promise that is held against servers and fabric; nothing is set to it.", "Nothing on the servers; the time to read a checkpoint is reckoned anew.", edit("superpod-h100", "storage.scratch.read=190GB/s")),),
        "write": (Rule(always, Effect.NOTHING, "A promise that is held against servers and fabric; nothing is set to it.", "Nothing on the servers; the time to write a checkpoint is reckoned anew.", edit("superpod-h100", "storage.scratch.write=90GB/s")),),
        "mount": (Rule(always, Effect.DRAIN, "A client has to unmount the old path, which fails while a job holds files open; jobs name the old path.", "Drain the clients, umount {old}, roll the files out, mount {new}; keep a symbolic link from {old} for old scripts.", edit("superpod-h100", "storage.scratch.mount=/work")),),
        "clients": (
            Rule(reordered, Effect.NOTHING, "The same pools mount it.", "Nothing.", edit("superpod-h100", "storage.scratch.clients=[login, gpu]")),
            Rule(appended, Effect.RECONFIGURE, "Further hosts mount it; those that do already are left alone.", "Run ansible-playbook site.yml with --limit the new clients.", edit("superpod-h100", "storage.scratch.clients=[gpu, login, mds]")),
            Rule(always, Effect.DRAIN, "Hosts that no longer are clients must unmount it, which fails while files are open.", "Drain the hosts that go out and umount there, then roll the files out.", edit("superpod-h100", "storage.scratch.clients=[gpu]")),
        ),
    },
    "FsxLustre": {
        "site": (Rule(always, Effect.DESTROY, f"A file system is bound to its subnet: at another site an empty one is made, and the old one would be destroyed; {_GUARD}.", _NEW_ONE, edit("aws-p5", "storage.fsx.site=oregon", also=("sites.oregon={kind: aws, region: us-west-2, zone: us-west-2a}",))),),
        "capacity": (
            Rule(grows, Effect.RECONFIGURE, "FSx grows in place: away for a few minutes while clients wait and try again, then hours to days of rebalancing at reduced speed (FSx for Lustre User Guide, Managing storage capacity).", "Run terraform apply at a quiet hour, between two checkpoints; capacity never shrinks again.", edit("aws-p5", "storage.fsx.capacity=50400GiB")),
            Rule(always, Effect.DESTROY, f"FSx only grows: for less capacity the AWS provider makes a new file system in the place of the old one (ForceNew on a smaller storage_capacity); {_GUARD}.", _NEW_ONE, edit("aws-p5", "storage.fsx.capacity=45600GiB")),
        ),
        "throughput_mbps_per_tib": (Rule(always, Effect.RECONFIGURE, "FSx exchanges its file servers in place, up or down; the file system is away for a few minutes while clients wait (FSx for Lustre User Guide, Managing provisioned throughput capacity).", "Run terraform apply at a quiet hour, between two checkpoints.", edit("aws-p5", "storage.fsx.throughput_mbps_per_tib=500")),),
        "mount": (Rule(always, Effect.DRAIN, "The path stands in fstab, which machines fetch at their first boot: those that run keep {old} and jobs look for {new}.", "Drain the machines, umount {old}, mount {new} and edit fstab; or replace them.", edit("aws-p5", "storage.fsx.mount=/data")),),
        "exports_to": (Rule(always, Effect.RECONFIGURE, "The association of file system and bucket is made, removed or replaced; the data in both stays, and nothing is exported while there is none.", "Wait until no export is under way (aws fsx describe-data-repository-associations), then terraform apply.", edit("aws-p5", "storage.fsx.exports_to=null")),),
    },
    "S3": {
        "site": (Rule(always, Effect.DESTROY, f"A bucket belongs to a region: an empty one is made at the new site, and the old one would be destroyed; {_GUARD}.", _NEW_ONE, edit("aws-p5", "storage.checkpoints.site=oregon", also=("sites.oregon={kind: aws, region: us-west-2, zone: us-west-2a}",))),),
        "bucket_prefix": (Rule(always, Effect.DESTROY, f"A bucket cannot be renamed: bucket_prefix forces a new one; {_GUARD}.", _NEW_ONE, edit("aws-p5", "storage.checkpoints.bucket_prefix=acme-runs")),),
    },
}
