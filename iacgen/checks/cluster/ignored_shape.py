"""A figure of a fabric's shape that its topology does not have.

Why: pods, cores and the oversubscription of spines belong to three tiers, groups to a dragonfly, rails to a fabric by rails. Elsewhere
the figure does nothing, and whoever wrote it expects that it does.

Bad::

    fabrics:
      compute: {topology: rail-fat-tree, unit: 32, pod: 4}       # two tiers carry it: there are no pods

Good: ``tiers: 3`` beside it, or leave the figure out.

Source: NVIDIA DGX SuperPOD reference architecture B200, table 3: cores from 1,024 nodes on; Kim et al., Technology-Driven,
Highly-Scalable Dragonfly Topology (ISCA 2008).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint.fabrics import Fabric as Wanted
from ...design.fabric.model import Fabric
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC564", "ignored-shape", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        fabric = subject.design.fabrics[name]
        for key, why in _ignored(wanted, fabric):
            yield Found(why, ("fabrics", name, key), on_key=True)


def _ignored(wanted: Wanted, fabric: Fabric) -> Iterator[tuple[str, str]]:
    dragonfly = fabric.topology.startswith("dragonfly")
    if not fabric.cores:
        tiers = "a dragonfly has no pods" if dragonfly else f"{len(fabric.tiers)} tier{'s' * (len(fabric.tiers) > 1)} carry this fabric"
        yield from ((key, tiers) for key, default in (("pod", None), ("cores", "contention-free"), ("spine_oversubscription", 1.0)) if getattr(wanted, key) != default)
    if dragonfly:
        yield from ((key, "the group of a dragonfly says it") for key, default in (("tiers", None), ("spines", None), ("oversubscription", 1.0)) if getattr(wanted, key) != default)
    elif wanted.group is not None:
        yield "group", f"a {fabric.topology} has no groups"
    if wanted.spines is not None and not dragonfly and not fabric.spines:
        yield "spines", "one leaf carries this fabric"
    if wanted.rail_groups and not fabric.by_rail:
        yield "rail_groups", f"a {fabric.topology} has no rails"
    if wanted.spine is not None and not fabric.spines:
        yield "spine", "this fabric has no spines"
