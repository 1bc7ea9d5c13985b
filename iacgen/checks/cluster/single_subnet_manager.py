"""One machine that manages a subnet.

Why: without a subnet manager no port comes up again and no route is mended. While the one is down, a rebooted node stays off the
fabric.

Bad::

    nodes:
      ufm: {site: hall, system: generic-1u, count: 1}
    fabrics:
      compute: {technology: infiniband, manager: {kind: ufm, pool: ufm}}

Good: ``count: 2``: the second takes over. Of several subnets each needs a second machine, or OpenSM a second port on one.

Source: InfiniBand architecture, master and standby subnet managers; NVIDIA UFM user manual, high availability.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.model import MANAGERS
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC531", "single-subnet-manager", "warning", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        manager, hosts = subject.design.fabrics[name].manager, sum(subject.blueprint.nodes[pool].count for pool in wanted.connects)
        if wanted.manager and hosts > 1 and subject.blueprint.nodes[wanted.manager.pool].count == 1:
            yield Found(f"{wanted.manager.pool} has one machine, and nobody takes over from it", ("fabrics", name, "manager", "pool"))
        elif manager and manager.subnets > 1 and manager.team == 1:
            message = f"{len(manager.hosts)} hosts of {wanted.manager.pool} manage {manager.subnets} subnets, and nobody takes over from any of them"
            yield Found(message, ("fabrics", name, "manager", "pool"), help=f"set nodes.{wanted.manager.pool}.count: {MANAGERS * len(manager.hosts)}")
