"""Rails that nothing joins, below GPUs that are not joined in the node either.

Why: without spines between the rails a GPU reaches only GPUs of its own number in other nodes. All other traffic must first cross to
the right rail over NVLink inside the node, as NCCL does with PXN. Where the node's GPUs are not one NVLink domain it cannot.

Bad::

    nodes:
      gpu: {system: my-pcie-server, count: 8}
    fabrics:
      compute: {connects: [gpu], topology: rail-only}

Good: ``topology: rail-fat-tree``, or servers whose GPUs are one NVLink domain.

Source: Wang et al., Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion Parameters (arXiv:2307.12169),
section 4; NCCL user guide, NCCL_PXN_DISABLE.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.sound import rails_apart, within_nvlink
from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC561", "rails-without-nvlink")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        systems = {p: subject.design.pools[p].system for p in (fabric.pools if rails_apart(fabric) else ())}
        if apart := [p for p, system in systems.items() if not within_nvlink(system)]:
            first, key = systems[apart[0]], "topology" if fabric.topology == "rail-only" else "rail_groups"
            joined = f"NVLink joins {first.nvlink_domain_gpus or 'none'} of the {first.gpus} GPUs of a {first.name}" if first.gpus else f"a {first.name} has no NVLink"
            yield Found(f"nothing joins the rails of {', '.join(apart)}, and {joined}", ("fabrics", name, key), tuple(Related(("nodes", p, "system"), "no NVLink between all of its GPUs") for p in apart))
