"""An InfiniBand fabric in several parts that nothing joins, and too few hosts to manage each.

Why: each plane, and each rail without a way to the others, is a subnet of its own and comes up only with a manager of its own, on a
port that lies in it. A part without one stays dark: its ports never become active. OpenSM runs one instance for each port of a host; UFM
runs one subnet. Each has a standby on a second host.

Bad::

    nodes:
      sm: {system: generic-1u-ndr, count: 2}    # two ports each: two of eight rails
    fabrics:
      compute: {technology: infiniband, topology: rail-only, manager: {kind: opensm, pool: sm}}

Good: ``count: 8``, two hosts for every two rails; or a pool that the fabric connects, whose hosts have a port on every rail; or
``topology: rail-fat-tree``, which is one subnet.

Source: InfiniBand Architecture Specification volume 1, chapter 14: a subnet manager configures the subnet of its own port; OpenSM
3.3.23 on ibsim brings up one of eight rails.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.managers import teams_for
from ...design.fabric.model import MANAGERS, Fabric
from ...design.fabric.sound import parts, unmanaged
from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC569", "subnet-without-manager")
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        fabric = subject.design.fabrics[name]
        lacking, all_of_them = unmanaged(fabric), parts(fabric)
        if lacking <= 0:
            continue
        rails = all_of_them // fabric.planes
        what = " of ".join(filter(None, (f"{fabric.planes} planes" if fabric.planes > 1 else "", f"{rails} rails that nothing joins" if rails > 1 else "")))
        key = "planes" if fabric.planes > 1 else "topology" if fabric.topology == "rail-only" else "rail_groups"
        if wanted.manager is None or fabric.manager is None:
            yield Found(f"{what} are {all_of_them} subnets, and none has a manager", ("fabrics", name, key))
            continue
        pool = subject.design.pools[wanted.manager.pool]
        related = Related(("fabrics", name, "manager", "pool"), f"{pool.count} hosts of {pool.name} reach {all_of_them - lacking}")
        message = f"{what} are {all_of_them} subnets, each with a manager of its own, and {lacking} have none"
        yield Found(message, ("fabrics", name, key), (related,), help=_enough(fabric, pool.name, len(pool.down), all_of_them))


def _enough(fabric: Fabric, pool: str, down: int, subnets: int) -> str:
    """What to write instead."""
    assert fabric.manager
    hosts = MANAGERS * teams_for(fabric.manager.kind, subnets, fabric.manager.nic) + down
    each = "UFM, with its standby, runs one subnet" if fabric.manager.kind == "ufm" else f"a host of {pool} has {fabric.manager.nic.count if fabric.manager.nic else 'no'} ports for it"
    here = "" if fabric.manager.kind == "opensm" and pool in fabric.pools else f", or manager: {{kind: opensm, pool: {fabric.pools[0]}}}, whose hosts have a port on each"
    return f"set nodes.{pool}.count: {hosts} ({each}){here}"
