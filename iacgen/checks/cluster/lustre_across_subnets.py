"""Lustre on a fabric whose rails or planes nothing joins.

Why: a host has an address for each port, all of one IP network and one LNet network, and Lustre takes any of them for any peer. Here a port
meets only ports of its own rail or plane: mounts hang on those that it does not reach, and nothing says why.

Bad::

    fabrics:
      storage: {purpose: storage, technology: infiniband, topology: rail-only}
    storage:
      scratch: {kind: lustre, fabric: storage}

Good: ``topology: fat-tree`` and one plane for storage.

Source: Lustre Software Release 2.x Operations Manual, LNet multi-rail: interfaces of one network that reach each other; InfiniBand
Architecture Specification, volume 1: without a router nothing passes from one subnet to another.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.sound import parts, rails_apart
from ...diagnostics import Related
from ..duties import lustres
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC620", "lustre-across-subnets")
def check(subject: Subject) -> Iterator[Found]:
    for name in lustres(subject.blueprint):
        fabric = subject.design.fabrics[subject.design.storage[name].fabric]
        rails = rails_apart(fabric)
        if not rails and not (fabric.technology == "infiniband" and parts(fabric) > 1):
            continue
        key = ("topology" if fabric.topology == "rail-only" else "rail_groups") if rails else "planes"
        what = "rails" if rails else "planes"
        related = (Related(("storage", name), "its servers and clients are reached by any of their ports"),)
        yield Found(f"{name} is served over {fabric.name}, whose {what} nothing joins", ("fabrics", fabric.name, key), related, help=f"make {fabric.name} one network, a fat-tree of one plane")
