"""What changing a pool of machines means."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, When, always, controls, edit, grows, holds_data, old_slurm, on_aws, planned, shrinks

_RESERVED = "nodes.gpu.capacity={kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890}"
_DRAIN = "scontrol update NodeName=<hosts> State=DRAIN Reason=iacgen"
_REPLACE = "terraform apply -replace='aws_instance.node[\"<host>\"]'"


def _machines(base: str, kind: str) -> tuple[Rule, ...]:
    held = f"nodes.gpu.capacity={{kind: {kind}, id: cr-0a1b2c3d4e5f67890}}"
    return (Rule(always, Effect.NOTHING, "The number only holds what pools take against what was bought.", "Nothing.", edit(base, "nodes.gpu.capacity.machines=32", old="nodes.gpu.capacity.machines=16", also=(held,))),)


_ID = (
    "The launch template is changed in place, but lifecycle.ignore_changes keeps running machines as they are: only new machines come out of the other reservation; those of a block end with it (Amazon EC2 User Guide, Capacity Blocks for ML).",
    f"Run terraform apply; then replace hosts one by one, drained: {_DRAIN}; {_REPLACE}.",
)

TABLES: dict[str, Table] = {
    "NodePool": {
        "site": (Rule(always, Effect.REPLACE, "Machines do not move: those of the old site leave the cluster, others join at the new one, under the same names.", f"Drain all hosts of {{name}} first: {_DRAIN}; better, add a pool under a new name at {{new}} and remove {{name}} later.", edit("lab", "nodes.ctl.site=spare", also=("sites.spare={kind: on-prem}",))),),
        "system": (
            Rule(holds_data, Effect.DESTROY, "Another machine brings other disks: the targets of the Lustre that lie on the old ones are gone with them.", "Add a pool of the new machines and a file system on it, copy the data, then remove the old ones; or move the disks by hand.", edit("superpod-h100", "nodes.oss.system=lustre-mds")),
            Rule(on_aws & controls, Effect.RESTART, "The provider stops the head node, changes its type and starts it again: its disk stays, slurmctld is away for minutes, and jobs that run outlive that.", "Run terraform apply at a quiet hour, then scontrol ping.", edit("aws-p5", "nodes.head.system=m7i.8xlarge")),
            Rule(on_aws, Effect.REPLACE, "Another instance type reaches new machines only: nodes.tf ignores a changed launch template on running ones.", f"Run terraform apply, then host by host: {_DRAIN}; {_REPLACE}.", edit("aws-p5", "nodes.gpu.system=p5en.48xlarge")),
            Rule(always, Effect.REPLACE, "Another machine stands in the place of each host: other ports, other GPUs, other lines of gres.conf and slurm.conf.", f"{_DRAIN}; swap the machines, provision them, and resume with scontrol update NodeName=<hosts> State=RESUME.", edit("lab", "nodes.gpu.system=hgx-h200")),
        ),
        "count": (
            Rule(grows & holds_data, Effect.RECONFIGURE, "New servers bring new targets, which are formatted empty and added; the old ones keep their data, and new files use all.", "Run ansible-playbook site.yml once with lustre_server_format_allowed as the tree's README.md has it, and --limit the new servers; even out old files with lfs_migrate when there is time.", edit("superpod-h100", "nodes.oss.count=10")),
            Rule(holds_data, Effect.DESTROY, "The targets on the servers with the highest numbers go: files that have objects there are lost.", "Empty them first: lctl set_param osp.<target>.max_create_count=0 on the metadata servers, lfs find --ost <target> piped to lfs_migrate, then lctl conf_param <target>.osc.active=0.", edit("superpod-h100", "nodes.oss.count=6")),
            Rule(controls, Effect.RESTART, "SlurmctldHost names the controllers: every daemon has to read another list, and a backup that goes takes nothing over any more.", "Keep the first controller running; put slurm.conf everywhere, restart slurmctld, then slurmd on all nodes.", edit("superpod-h100", "nodes.ctl.count=1")),
            Rule(grows & old_slurm, Effect.RESTART, "Before 23.11 Slurm takes a new NodeName only when slurmctld and every slurmd start again; jobs that run outlive that (slurm.conf(5)).", "Install the new hosts (in a cloud: terraform apply), put slurm.conf everywhere, restart slurmctld, then slurmd on all nodes.", edit("lab", "nodes.gpu.count=4")),
            Rule(grows & on_aws, Effect.RECONFIGURE, "New hosts get the next numbers: aws_instance is keyed by name, so that running machines keep theirs.", "Run terraform apply, then put Slurm's files everywhere and run scontrol reconfigure.", edit("aws-p5", "nodes.gpu.count=18")),
            Rule(grows & planned, Effect.RECONFIGURE, "Fabrics and racks are laid out for grow_to: new hosts take ports and places that wait for them, and no cable moves.", "Rack and install the new hosts, pull their own cables, put Slurm's files everywhere, then scontrol reconfigure.", edit("superpod-h100", "nodes.login.count=3", also=("nodes.login.grow_to=4",))),
            Rule(grows, Effect.RECONFIGURE, "New hosts get the next numbers and the old ones keep theirs; what must be cabled anew is said at the fabrics.", "Rack and install the new hosts, put Slurm's files everywhere, then scontrol reconfigure.", edit("superpod-h100", "nodes.login.count=3")),
            Rule(shrinks & on_aws, Effect.REPLACE, "The hosts with the highest numbers are terminated by terraform apply, with any job on them.", f"First {_DRAIN} on the hosts that go, wait until they are idle, then terraform apply.", edit("aws-p5", "nodes.gpu.count=14")),
            Rule(always, Effect.DRAIN, "The hosts with the highest numbers leave Slurm and the fabrics; a job on a host that slurm.conf no longer knows is killed.", f"First {_DRAIN} on the hosts that go; roll the files out when they are idle.", edit("superpod-h100", "nodes.login.count=1")),
        ),
        "grow_to": (
            Rule(on_aws, Effect.NOTHING, "Fabrics and racks of a cloud are its owner's: no file follows from it.", "Nothing.", edit("aws-p5", "nodes.gpu.grow_to=32")),
            Rule(always, Effect.RECABLE, "Fabrics and racks are laid out for the planned size: another plan may be other leaves, spines and positions for hosts that stand.", "Read the cables of the fabrics below; plan the size before the first rack, and leave it.", edit("lab", "nodes.gpu.grow_to=8")),
        ),
        "spares": (Rule(always, Effect.RECONFIGURE, "Which hosts are kept free follows from it; none is touched, and a job that takes all but the spares has another size at its next start.", "Put the new host files on the nodes; the next start of the job uses them.", edit("superpod-h100", "nodes.gpu.spares=2")),),
        "description": (Rule(always, Effect.NOTHING, "A line for people; no program reads it.", "Nothing.", edit("lab", "nodes.gpu.description=Pre-training")),),
        "width": (
            Rule(on_aws, Effect.REPLACE, "Every host of the pool gets another name, and aws_instance is keyed by it: all machines are destroyed and bought again.", "Keep the width; else drain the whole pool before terraform apply.", edit("aws-p5", "nodes.gpu.width=3")),
            Rule(always, Effect.STOP, "Every host of the pool is renamed: in DNS, Slurm, Lustre and monitoring. Slurm takes the new names for new nodes, and jobs on the old ones are lost.", "Keep the width; else let the queue run empty, stop slurmctld and slurmd, rename the hosts, roll everything out and start again.", edit("lab", "nodes.gpu.width=3")),
        ),
        "down": (
            Rule(When("a host more", lambda s: len(s.change.new or ()) > len(s.change.old or ())), Effect.DRAIN, "The host takes no job any more.", "Drain it now: scontrol update NodeName={new} State=DRAIN Reason=down; a job that had it starts again on a spare.", edit("superpod-h100", "nodes.gpu.down=[gpu0017]")),
            Rule(always, Effect.RECONFIGURE, "The host takes jobs again.", "Test it, then scontrol update NodeName={old} State=RESUME.", edit("superpod-h100", "", old="nodes.gpu.down=[gpu0017]")),
        ),
        "capacity": (Rule(always, Effect.REPLACE, "How a machine was bought is fixed for its life: market type and reservation are in the launch template, whose changes nodes.tf ignores on running machines.", f"Run terraform apply, then host by host: {_DRAIN}; {_REPLACE}.", edit("aws-p5", "nodes.gpu.capacity={kind: spot}", old="nodes.gpu.capacity=null")),),
        "placement_group": (Rule(always, Effect.REPLACE, "A machine enters a placement group when it starts; the group is in the launch template, which reaches new machines only. A group beside a capacity block fails.", f"Replace the hosts, drained and best all together, so that they are placed side by side: {_REPLACE}.", edit("aws-p5", "nodes.gpu.placement_group=false")),),
        "efa": (Rule(always, Effect.REPLACE, "EFA interfaces are attached when a machine is launched; the tag EfaInterfaces changes in place and would then lie about running machines.", f"Run terraform apply, then host by host: {_DRAIN}; {_REPLACE}.", edit("aws-p5", "nodes.gpu.efa=16")),),
    },
    "CapacityReservation": {
        "id": (Rule(always, Effect.REPLACE, *_ID, edit("aws-p5", "nodes.gpu.capacity.id=cr-0a1b2c3d4e5f67891", also=(_RESERVED,))),),
        "machines": _machines("aws-p5", "capacity-reservation"),
    },
    "CapacityBlock": {
        "id": (Rule(always, Effect.REPLACE, *_ID, edit("aws-p5", "nodes.gpu.capacity.id=cr-0a1b2c3d4e5f67891")),),
        "machines": _machines("aws-p5", "capacity-block"),
    },
}
