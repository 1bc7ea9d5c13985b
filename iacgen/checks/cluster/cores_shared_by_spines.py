"""Three tiers with as few cores as have the ports.

Why: with cores of its own for every spine of a pod each shift of ranks finds a way of its own. With fewer, shared cores flows meet on a
link: on trees of 16-port switches that OpenSM routed with ftree, the worst shift put three flows on one link, and hardly any was free.
The finding says how many cores the wiring without contention takes.

Bad::

    fabrics:
      compute: {topology: rail-fat-tree, tiers: 3, cores: fewest}

Good: ``cores: contention-free``.

Source: measured with OpenSM 3.3.23 (ftree) on ibsim, three and five pods; Zahavi, Fat-tree routing and node ordering providing
contention free traffic for MPI global collectives (2012).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.tree import Tree
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC565", "cores-shared-by-spines", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        trunks = subject.design.fabrics[name].trunks
        if isinstance(trunks, Tree) and trunks.dealt_cores:
            own = trunks.size.spines * trunks.size.up // trunks.size.core_parallel
            if own > trunks.size.cores:
                yield Found(f"{trunks.size.cores:,} cores are shared by all spines; {own:,} keep every shift of ranks free of contention", ("fabrics", name, "cores"))
