"""An order as a drawing: each host of the pool below its switches, by the stage and the replica that it holds."""

from __future__ import annotations

from collections.abc import Sequence

from iacgen import units
from iacgen.design.model import Design
from iacgen.drawings import Leaf, Pod, Seat, draw_placement
from iacgen.placement.placing import ground_of

from .model import Ordering


def picture(design: Design, ordering: Ordering) -> str:
    """The SVG document."""
    placement, grid = ordering.placement, ordering.job.grid
    on = f" on {ordering.ground.name}" if ordering.ground.name else ""
    title = f"{ordering.job.name}{on}: {placement.world:,} ranks on {len(placement.hosts):,} of {ordering.pool.count:,} hosts"
    figures = [
        "a square is a host, its hue the pipeline stage, the bar below it the data replica",
        f"communication cost {units.seconds(placement.cost_s)} a step",
        f"no placement costs less than {units.seconds(placement.bound_s)}",
        f"order sha256 {placement.digest[:16]}",
    ]
    return draw_placement(title, " · ".join(figures), _pods(design, ordering), grid.pipeline, grid.data)


def _pods(design: Design, ordering: Ordering) -> list[Pod]:
    """Groups of the second tier with those of the first, in the order of the fabric; hosts without a place are a group of their own."""
    ground = ground_of(design, ordering.pool, ordering.job, ordering.ground.found)
    seats, tiers = _seats(ordering), ground.tiers
    leaves: dict[int, list[Seat]] = {}
    for host, leaf in zip(ground.hosts, tiers.labels[0].tolist(), strict=True):
        leaves.setdefault(leaf, []).append(seats[host])
    over = dict(zip(tiers.labels[0].tolist(), tiers.labels[1].tolist(), strict=True)) if len(tiers.names) > 1 else dict.fromkeys(leaves, 0)
    names: Sequence[str] = tiers.groups[1] if len(tiers.names) > 1 else ("",)
    pods: dict[int, list[Leaf]] = {}
    for leaf in sorted(leaves):
        pods.setdefault(over[leaf], []).append(Leaf(tiers.groups[0][leaf], tuple(leaves[leaf])))
    out = [Pod(names[pod], tuple(pods[pod])) for pod in sorted(pods)]
    if ground.away:
        lost = tuple(seats[host] for host in ordering.pool.hosts if host in ground.away)
        out.append(Pod("no place on this fabric" if names[0] else "", (Leaf("elsewhere", lost),)))
    return out


def _seats(ordering: Ordering) -> dict[str, Seat]:
    """Host → its seat."""
    placement, grid, slots = ordering.placement, ordering.job.grid, ordering.placement.gpus_per_node
    out = {}
    for node, host in enumerate(placement.hosts):
        stage, within = divmod(node, grid.row)
        replica, rest = divmod(within, grid.tensor * grid.context)
        part = f", context part {rest // grid.tensor + 1} of {grid.context}" if grid.context > 1 else ""
        title = f"{host}: ranks {node * slots:,} to {(node + 1) * slots - 1:,}, stage {stage + 1}, replica {replica + 1}{part}"
        out[host] = Seat(host, title, stage, replica)
    return out | {idle.host: Seat(idle.host, f"{idle.host}: {idle.why}", why=idle.why) for idle in placement.idle}
