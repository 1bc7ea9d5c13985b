"""What changing a site means: a hall, or a zone of AWS."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, always, edit, no_file_system, reordered

_MOVES = "Subnet, machines and file systems are bound to it: every machine is replaced, and the file systems too, which prevent_destroy refuses, so that no plan is made at all."
_BESIDE = "Add a site under a new name, copy the data, move the pools there, then remove {name}."
_MACHINES = "Machines are bound to their subnet and groups: there is no file system to lose, but the head node and every other machine are made anew, and Slurm's queue goes with the head node's disk."
_ALL_NEW = "Let the queue run empty, save StateSaveLocation if accounting needs it, then terraform apply; replace machines that the plan leaves out with terraform apply -replace."
_NO_FILES = ("storage=null", "training=null")
_EXISTING = "{vpc: vpc-0a1b2c3d4e5f67890, subnet: subnet-0a1b2c3d4e5f67890, addresses: 10.64.8.0/22}"
_IN = (f"sites.ohio.existing={_EXISTING}",)
_FEEDS = ("sites.lab-room.power={feeds: 2, redundancy: 2N, capacity: 60kW}",)
_PLANT = ("sites.lab-room.cooling={kind: rear-door, capacity: 60kW, redundancy: 'N'}",)
_CDU = ("sites.lab-room.cooling={kind: direct-liquid, capacity: 60kW, cdu: {capacity: 50kW, count: 2}}",)
_RACKED = "Where machines stand follows from what a rack carries: hosts may move to other racks, and their cables with them."
_MOVE = "Compare facility/ of the two trees; move a machine only when it is drained, or keep the old figures for this hall."


def _racks(example: str) -> tuple[Rule, ...]:
    return (Rule(always, Effect.RECABLE, _RACKED, _MOVE, edit("lab", example)),)


def _said(reason: str, example: str, also: tuple[str, ...]) -> tuple[Rule, ...]:
    return (Rule(always, Effect.NOTHING, reason, "Make sure that the hall is what the blueprint says; nothing is set to it.", edit("lab", example, also=also)),)


_CARRIES = "A figure of the hall that the load is held against; no file of a machine follows from it."

TABLES: dict[str, Table] = {
    "OnPremSite": {
        "power": (Rule(always, Effect.RECABLE, "On which feeds a rack hangs follows from it: power cords may have to be plugged into others.", "Compare facility/ of the two trees; move one cord of a machine at a time, so that its other feed carries it.", edit("lab", _FEEDS[0])),),
        "cooling": _said(_CARRIES, _PLANT[0], ()),
        "domain": (Rule(always, Effect.STOP, "Every host gets another full name: DNS, certificates, known hosts, inventory and monitoring all know the old one.", "Serve both domains for a while; let the queue run empty before the old one goes.", edit("lab", "sites.lab-room.domain=hall-a.example.com")),),
    },
    "Rack": {
        "power": _racks("sites.lab-room.rack.power=40kW"),
        "cooling": _racks("sites.lab-room.rack.cooling=25kW"),
        "units": _racks("sites.lab-room.rack.units=42"),
        "weight_kg": _racks("sites.lab-room.rack.weight_kg=1360"),
        "rows": _said("Room that there is, held against the racks that are needed.", "sites.lab-room.rack.rows=2", ()),
        "row_length": _racks("sites.lab-room.rack.row_length=16"),
        "pitch_m": (Rule(always, Effect.RECABLE, "Cables are measured by it: another length may be another part, of copper or of glass.", "Compare the lengths in the cable lists before anything is ordered; cables that are laid stay.", edit("lab", "sites.lab-room.rack.pitch_m=3.0")),),
        "width_m": (Rule(always, Effect.RECABLE, "Cables are measured by it: another length may be another part, of copper or of glass.", "Compare the lengths in the cable lists before anything is ordered; cables that are laid stay.", edit("lab", "sites.lab-room.rack.width_m=0.8")),),
    },
    "Power": {
        "feeds": (Rule(always, Effect.RECABLE, "On which feeds a rack hangs follows from their number.", "Compare facility/ of the two trees; move one cord of a machine at a time, so that its other feed carries it.", edit("lab", "sites.lab-room.power.feeds=4", also=_FEEDS)),),
        "redundancy": (Rule(always, Effect.RECABLE, "N, N+1 and 2N hang racks on feeds in different ways.", "Compare facility/ of the two trees; move one cord of a machine at a time, so that its other feed carries it.", edit("lab", "sites.lab-room.power.redundancy=N+1", also=_FEEDS)),),
        "capacity": _said(_CARRIES, "sites.lab-room.power.capacity=80kW", _FEEDS),
    },
    "Cooling": {
        "kind": (Rule(always, Effect.STOP, "Another way to cool is other doors, plates and pipes: racks are rebuilt, and machines for air do not take coolant.", "Plan it rack by rack with the facility; drain and power off each one first.", edit("lab", "sites.lab-room.cooling={kind: air, capacity: 60kW}", also=_PLANT)),),
        "capacity": _said(_CARRIES, "sites.lab-room.cooling.capacity=80kW", _PLANT),
        "redundancy": _said(_CARRIES, "sites.lab-room.cooling.redundancy=N+1", _PLANT),
        "supply_c": _said("The temperature that the plant is set to by the facility; machines throttle when it is above what they take.", "sites.lab-room.cooling.supply_c=25", _PLANT),
        "rise_k": _said(_CARRIES, "sites.lab-room.cooling.rise_k=12.0", _PLANT),
        "liquid_share": _said(_CARRIES, "sites.lab-room.cooling.liquid_share=0.7", _PLANT),
        "cdu": _said(_CARRIES, "sites.lab-room.cooling.cdu={capacity: 50kW}", _PLANT),
    },
    "Cdu": {
        "capacity": _said(_CARRIES, "sites.lab-room.cooling.cdu.capacity=60kW", _CDU),
        "count": _said(_CARRIES, "sites.lab-room.cooling.cdu.count=3", _CDU),
    },
    "AwsSite": {
        "region": (Rule(always, Effect.DESTROY, "Nothing moves between regions: all is made anew there, and the old file systems and buckets would be destroyed, which prevent_destroy refuses.", _BESIDE, edit("aws-p5", "sites.ohio.region=us-west-2", also=())),),
        "zone": (
            Rule(no_file_system, Effect.REPLACE, _MACHINES, _ALL_NEW, edit("aws-p5", "sites.ohio.zone=us-east-2b", also=_NO_FILES)),
            Rule(always, Effect.DESTROY, _MOVES, _BESIDE, edit("aws-p5", "sites.ohio.zone=us-east-2b")),
        ),
        "network": (
            Rule(no_file_system, Effect.REPLACE, _MACHINES, _ALL_NEW, edit("aws-p5", "sites.ohio.network=10.80.0.0/16", also=_NO_FILES)),
            Rule(always, Effect.DESTROY, "The address range of a VPC and its subnets forces new ones. " + _MOVES, _BESIDE, edit("aws-p5", "sites.ohio.network=10.80.0.0/16")),
        ),
        "existing": (
            Rule(no_file_system, Effect.REPLACE, _MACHINES, _ALL_NEW, edit("aws-p5", _IN[0], also=_NO_FILES)),
            Rule(always, Effect.DESTROY, "Another network is another subnet. " + _MOVES, _BESIDE, edit("aws-p5", _IN[0])),
        ),
        "admin_networks": (
            Rule(reordered, Effect.NOTHING, "The rules are keyed by network; their order is none.", "Nothing.", edit("aws-p5", "sites.ohio.admin_networks=[203.0.113.0/24, 198.51.100.0/24]", old="sites.ohio.admin_networks=[198.51.100.0/24, 203.0.113.0/24]")),
            Rule(always, Effect.RECONFIGURE, "Rules of the head node's security group come and go in place; a session from a network that goes is cut.", "Run terraform apply; keep a way in (aws ssm start-session) before you take your own network out.", edit("aws-p5", "sites.ohio.admin_networks=[198.51.100.0/24]")),
        ),
    },
    "ExistingNetwork": {
        "vpc": (
            Rule(no_file_system, Effect.REPLACE, _MACHINES, _ALL_NEW, edit("aws-p5", "sites.ohio.existing.vpc=vpc-0a1b2c3d4e5f67891", also=(*_NO_FILES, *_IN))),
            Rule(always, Effect.DESTROY, _MOVES, _BESIDE, edit("aws-p5", "sites.ohio.existing.vpc=vpc-0a1b2c3d4e5f67891", also=_IN)),
        ),
        "subnet": (
            Rule(no_file_system, Effect.REPLACE, _MACHINES, _ALL_NEW, edit("aws-p5", "sites.ohio.existing.subnet=subnet-0a1b2c3d4e5f67891", also=(*_NO_FILES, *_IN))),
            Rule(always, Effect.DESTROY, _MOVES, _BESIDE, edit("aws-p5", "sites.ohio.existing.subnet=subnet-0a1b2c3d4e5f67891", also=_IN)),
        ),
        "addresses": (Rule(always, Effect.RECONFIGURE, "It only says what range the subnet has, for addresses that files name; the subnet itself is its owner's.", "Say what the subnet really has (aws ec2 describe-subnets); roll the files out.", edit("aws-p5", "sites.ohio.existing.addresses=10.64.12.0/22", also=_IN)),),
    },
    "SecurityGroup": {
        "id": (
            Rule(no_file_system, Effect.REPLACE, _MACHINES, _ALL_NEW, edit("aws-p5", "sites.ohio.security_group={id: sg-0a1b2c3d4e5f67890, members: [all]}", also=_NO_FILES)),
            Rule(always, Effect.DESTROY, "The security groups of a file system of FSx force a new one in the AWS provider; prevent_destroy refuses, and the whole plan fails (the incident of aws-parallelcluster#4651).", "Change the rules inside the group instead of the group.", edit("aws-p5", "sites.ohio.security_group={id: sg-0a1b2c3d4e5f67890, members: [all]}")),
        ),
        "members": (
            Rule(reordered, Effect.NOTHING, "Rules are keyed by their ports; their order is none.", "Nothing.", edit("aws-p5", "sites.ohio.security_group.members=['6817-6818', '988']", old="sites.ohio.security_group.members=['988', '6817-6818']")),
            Rule(always, Effect.RECONFIGURE, "Rules come and go in place. EFA needs all traffic in both directions among the members, Lustre TCP 988 and 1018 to 1023: without them jobs and mounts hang.", "Run terraform apply while no job runs; of a group that exists its owner changes the rules.", edit("aws-p5", "sites.ohio.security_group.members=['988', '1018-1023', '6817-6818']")),
        ),
    },
}
