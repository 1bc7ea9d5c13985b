"""Slurm behind a security group that does not open its ports.

Why: slurmctld listens at TCP 6817 and slurmd at 6818, and srun and the steps call back at ports that the kernel picks, 32768 to 60999,
or at those of SrunPortRange. With the first closed nodes stay down, with the last closed they look idle and every srun hangs.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, security_group: {members: [988, 1018-1023, 6817-6818]}}
    scheduler: {kind: slurm, version: "24.11", controllers: head}

Good: ``members: [988, 1018-1023, 6817-6818, 32768-60999]``, or ``[all]``.

Source: slurm.conf(5), SlurmctldPort, SlurmdPort, SrunPortRange; Slurm's Network Configuration Guide: srun connections on ephemeral
ports; Linux, ip_local_port_range.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ...diagnostics import Related
from ..duties import aws_sites, closed, efa_interfaces
from ..rule import Found, rule

DAEMONS, EPHEMERAL = (6817, 6818), (32768, 60999)


@rule("IAC547", "slurm-ports-closed")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler is None:
        return
    chosen = blueprint.scheduler.parameters.get("SrunPortRange", ("",))[0].partition("-")
    callback = (int(chosen[0]), int(chosen[2])) if chosen[0].isdecimal() and chosen[2].isdecimal() else EPHEMERAL
    for name, site in aws_sites(blueprint).items():
        pools = [pool for pool, wanted in blueprint.nodes.items() if wanted.site == name]
        missing = closed([DAEMONS, callback], site.group.ports)
        if missing and blueprint.scheduler.controllers in pools and len(pools) > 1 and not any(efa_interfaces(blueprint, pool) for pool in pools):
            said = site.group.members is not None
            if not said and any(isinstance(store, FsxLustre) and store.site == name for store in blueprint.storage.values()):
                continue  # that nothing is said is said of the file system
            path = ("sites", name, "security_group", "members" if said else "id")
            unsaid = f"nothing is said of what members of {site.group.id} may send each other; Slurm's daemons and srun talk at TCP {missing}"
            message = f"members may not send each other TCP {missing}, by which Slurm's daemons and srun talk" if said else unsaid
            yield Found(message, path, (Related(("scheduler", "controllers"), "whose machines stand there"),), help="list these ports, or all, once they are open", on_key=said)
