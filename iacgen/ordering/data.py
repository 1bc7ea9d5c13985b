"""Orders as plain values, for JSON. The keys are described in ``docs/placement.md`` and, for programs, in ``docs/placement.schema.json``.

A key is never removed and never changes its meaning within one ``schema``; new ones may come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iacgen.placement import Bound, Cost, FamilyCost, Placement
from iacgen.placement.assumptions import sentences
from iacgen.placement.model import Family

from .model import Ordering

SCHEMA = 1


def data(cluster: str, orderings: Sequence[Ordering]) -> dict[str, Any]:
    """One object for all orders: times in seconds, sizes in bytes a step."""
    return {"schema": SCHEMA, "cluster": cluster, "jobs": [_ordering(o) for o in orderings], "assumptions": list(sentences(families(orderings), [o.job for o in orderings]))}


def families(orderings: Sequence[Ordering]) -> set[Family]:
    """The kinds of traffic that any of the jobs has between hosts."""
    return {family.family for ordering in orderings for family in ordering.placement.cost.families}


def _ordering(ordering: Ordering) -> dict[str, Any]:
    job, placement, grid = ordering.job, ordering.placement, ordering.job.grid
    return {
        "job": job.name,
        "pool": ordering.pool.name,
        "fabric": _fabric(ordering),
        "ranks": placement.world,
        "ranks_per_host": placement.gpus_per_node,
        "grid": {"tensor": grid.tensor, "context": grid.context, "data": grid.data, "pipeline": grid.pipeline, "expert": grid.expert, "shard": grid.shard},
        "cost": _cost(placement.cost),
        "bound": _bound(placement.bound),
        "ratio": placement.ratio,
        "proved": placement.proved,
        "solver": {"bound_seconds": ordering.proof.bound_s, "optimal": ordering.proof.optimal} if ordering.proof else None,
        "sorted_names": {**_cost(placement.sorted_cost), "times_ours": ordering.gain, "same_order": placement.by_name},
        "groups": [_span(placement, k) for k in range(len(placement.spans))],
        "mixed_stages": placement.mixed_stages,
        "orders_tried": placement.tried,
        "idle": [{"host": idle.host, "why": idle.why} for idle in placement.idle],
        "moves": [{"node": move.node, "from": move.out, "to": move.into} for move in placement.moves],
        "change": _change(ordering),
        "digest": placement.digest,
        "hosts": list(placement.hosts),
    }


def _fabric(ordering: Ordering) -> dict[str, Any]:
    ground = ordering.ground
    told = {"files": list(ground.files), "missing": list(ordering.missing), "strangers": list(ground.strangers), "adrift": list(ground.adrift), "unlimited_tiers": list(ground.open_tiers)}
    return {"name": ground.name, "source": ground.source, "tiers": list(ordering.placement.cost.tiers), **told}


def _change(ordering: Ordering) -> dict[str, Any] | None:
    change, before = ordering.change, ordering.before
    if change is None or before is None:
        return None
    after = change.after
    return {
        "down": list(change.down),
        "moves": [
            {"ranks": list(ranks_of(after, m.node)), "from": m.out, "to": m.into, "same": near, "spare": spare(before, m.into)}
            for m, near in zip(after.moves, change.shared, strict=True)
        ],
        "ranks_moved": len(after.moves) * after.gpus_per_node,
        "before": {"seconds": before.cost_s, "bytes_leaving": dict(zip(before.cost.tiers, before.cost.bytes_by_tier, strict=True)), "digest": before.digest},
        "anew": {"seconds": change.anew.total_s, "ranks_moved": change.anew_moved * after.gpus_per_node},
        "generated": change.generated,
    }


def ranks_of(placement: Placement, node: int) -> tuple[int, int]:
    """The first and the last rank of a virtual node."""
    return node * placement.gpus_per_node, (node + 1) * placement.gpus_per_node - 1


def spare(before: Placement, host: str) -> bool:
    """Whether a host stood by as a spare."""
    return any(idle.host == host and idle.why == "spare" for idle in before.idle)


def _bound(bound: Bound) -> dict[str, Any]:
    return {"seconds": bound.seconds, "tier": bound.tier, "switch": bound.switch, "why": bound.why, "method": bound.method}


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "seconds": cost.total_s,
        "bytes_leaving": dict(zip(cost.tiers, cost.bytes_by_tier, strict=True)),
        "ring_entries": cost.ring_entries,
        "families": [_family(cost.tiers, family) for family in cost.families],
    }


def _family(tiers: tuple[str, ...], family: FamilyCost) -> dict[str, Any]:
    return {
        "family": family.family,
        "seconds": family.seconds,
        "weight": family.exposed,
        "slowest_flow": {"seconds": family.slowest_s, "crosses": family.slowest_tier, "inside_nvlink": family.inside},
        "busiest_uplink": {"seconds": family.congestion_s, "of": family.busiest, "utilisation": utilisation(family)} if family.busiest else None,
        "bytes_leaving": dict(zip(tiers, family.bytes_by_tier, strict=True)),
        "ring_entries": family.ring_entries,
    }


def _span(placement: Placement, k: int) -> dict[str, Any]:
    span, tiers = placement.spans[k], placement.cost.tiers
    return {"family": span.family, "groups": span.groups, "cut": dict(zip(tiers, span.cut, strict=True)), "most_switch_groups": dict(zip(tiers, span.most, strict=True))}


def utilisation(family: FamilyCost) -> float:
    """Share of the family's time in which the uplinks of its busiest switch group are full."""
    time = max(family.congestion_s, family.slowest_s)
    return family.congestion_s / time if time else 0.0
