"""An InfiniBand fabric in several parts that nothing joins.

Why: each part is a subnet of its own and comes up only with a manager of its own. One manager sweeps what its own port reaches: the other
rails or planes stay dark, and their ports never become active.

Bad::

    fabrics:
      compute: {technology: infiniband, topology: rail-only, manager: {kind: opensm, pool: ctl}}

Good: ``topology: rail-fat-tree``; or one fabric for each part, with a manager of its own; or ``technology: roce``, which has none.

Source: InfiniBand Architecture Specification volume 1, chapter 14: a subnet manager configures the subnet of its own port; OpenSM
3.3.23 on ibsim brings up one of eight rails.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.sound import rails_apart, subnets
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC569", "subnet-without-manager")
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        fabric = subject.design.fabrics[name]
        if fabric.technology != "infiniband":
            continue
        if wanted.planes > 1:
            yield Found(f"{wanted.planes} planes are as many subnets, and one manager runs one", ("fabrics", name, "planes"))
        elif rails_apart(fabric):
            key = "topology" if fabric.topology == "rail-only" else "rail_groups"
            yield Found(f"{subnets(fabric)} rails that nothing joins are as many subnets, and one manager runs one", ("fabrics", name, key))
