"""One id that is a reservation in one pool and a capacity block in another.

Why: a block is asked for with another market type than a reservation. One of the two requests is refused, whichever the id is.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 8, capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}}
      more: {site: ohio, system: p5.48xlarge, count: 8, capacity: {kind: capacity-reservation, id: cr-0a1b2c3d4e5f67890}}

Good: the kind that was bought, in both.

Source: terraform-aws-ec2-instance#383, "market type not valid".
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import taking
from ..rule import Found, rule


@rule("IAC244", "capacity-of-two-kinds")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for id, (first, *others) in taking(blueprint).items():
        one = blueprint.nodes[first]
        for name in others:
            other = blueprint.nodes[name]
            if other.capacity.kind != one.capacity.kind and other.system == one.system:  # two systems are a finding of their own
                yield Found(f"{id} is a {one.capacity.kind} in nodes.{first}", ("nodes", name, "capacity", "kind"), (Related(("nodes", first, "capacity", "kind"), "the other kind"),))
