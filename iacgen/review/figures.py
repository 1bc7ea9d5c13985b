"""The figures of a cluster and its jobs, before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .. import units
from ..design import Design
from ..placement.project import Project
from ..training.course import DAY_S
from .model import Side

Words = Callable[[float], str]


@dataclass(frozen=True)
class Figure:
    """One row: ``old`` and ``new`` in ``unit``, None where a side has no such figure."""

    label: str
    unit: str
    old: float | None
    new: float | None
    words: Words

    @property
    def old_text(self) -> str:
        return self._text(self.old)

    @property
    def new_text(self) -> str:
        return self._text(self.new)

    @property
    def change_text(self) -> str:
        """How much more or less, in parts of the former figure, or how many times it; empty where that says nothing."""
        if self.old is None or self.new is None or self.old == self.new or self.old <= 0:
            return ""
        ratio = self.new / self.old
        return f"{ratio - 1:+.1%}" if 0 < ratio < 10 else f"x {ratio:.3g}"

    def _text(self, value: float | None) -> str:
        return "none" if value is None else self.words(value)


def figures(old: Side, new: Side) -> tuple[Figure, ...]:
    """All figures that either side has, those of the cluster first, then by site, fabric and job."""
    before, after = dict(_of(old)), dict(_of(new))
    both = {label: (unit, words) for found in (before, after) for label, (_, unit, words) in found.items()}
    order = sorted(both, key=lambda label: (label.count(": "), label.partition(": ")[0] if ": " in label else "", list(both).index(label)))
    rows = [Figure(label, both[label][0], _value(before, label), _value(after, label), both[label][1]) for label in order]
    return (*rows, *_moved(old, new))


def _value(found: dict[str, tuple[float, str, Words]], label: str) -> float | None:
    return found[label][0] if label in found else None


def _of(side: Side) -> Iterator[tuple[str, tuple[float, str, Words]]]:
    if side.design:
        yield from _cluster(side.design)
    if side.project:
        yield from _jobs(side.project)


def _cluster(design: Design) -> Iterator[tuple[str, tuple[float, str, Words]]]:
    pools = design.pools.values()
    yield "Nodes", (sum(p.count for p in pools), "nodes", _whole)
    yield "GPUs", (design.gpus, "GPUs", _whole)
    peak = sum(p.count * p.system.gpus * p.gpu.bf16_tflops for p in pools if p.gpu) / 1000
    yield "Dense bf16 peak", (peak, "PFLOP/s", lambda x: f"{x:,.1f} PFLOP/s")
    wired = {name: f for name, f in design.fabrics.items() if f.switch}
    yield "Switches", (sum(f.switches for f in wired.values()), "switches", _whole)
    yield "Cables", (sum(f.cables.total for f in wired.values()), "cables", _whole)
    for name, fabric in wired.items():
        yield f"{name}: switches", (fabric.switches, "switches", _whole)
        yield f"{name}: cables", (fabric.cables.total, "cables", _whole)
        yield f"{name}: oversubscription", (fabric.oversubscription, ":1", lambda x: f"{x:.2f}")
    for site, hall in design.facilities.items():
        yield f"{site}: racks", (len(hall.racks), "racks", _whole)
        yield f"{site}: power at most", (hall.power_w, "W", units.kilowatts)
        if hall.plant:
            yield f"{site}: cooling left", (hall.plant.capacity_w - hall.power_w, "W", units.kilowatts)
    for name, store in design.storage.items():
        if store.kind == "fsx-lustre":
            yield f"{name}: capacity", (store.capacity_gib, "GiB", lambda x: f"{x:,.0f} GiB")
        elif store.kind == "lustre":
            yield f"{name}: capacity", (store.capacity_bytes, "B", units.bytes_si)


def _jobs(project: Project) -> Iterator[tuple[str, tuple[float, str, Words]]]:
    for name, job in project.jobs.items():
        yield f"{name}: nodes", (job.spec.nodes, "nodes", _whole)
        yield f"{name}: memory left on a GPU", (job.memory.capacity - job.memory.worst.total, "B", units.gib)
        if job.step:
            yield f"{name}: step", (job.step.seconds, "s", units.seconds)
            yield f"{name}: tokens a day", (job.step.tokens_per_s * DAY_S, "tokens", lambda x: f"{x / 1e9:,.2f} x 10^9")
            yield f"{name}: MFU", (job.step.mfu, "1", lambda x: f"{x:.1%}")
        yield f"{name}: time between failures", (job.reliability.mttf_s, "s", lambda x: f"{x / 3600:,.1f} h")
        placement = project.placements[name]
        if placement.bound_s:
            yield f"{name}: placement against its bound", (placement.cost_s / placement.bound_s, "1", lambda x: f"{x:.4f}")


def _moved(old: Side, new: Side) -> Iterator[Figure]:
    """Ranks of a job that sit on another host than before; those that only one side has among them."""
    if not old.project or not new.project:
        return
    for name in sorted(old.project.placements.keys() & new.project.placements.keys()):
        before, after = old.project.placements[name], new.project.placements[name]
        was, now = (dict(zip(range(len(p.hosts)), p.hosts, strict=True)) for p in (before, after))
        if before.gpus_per_node == after.gpus_per_node:
            moved = sum(was.get(node) != now.get(node) for node in was.keys() | now.keys()) * after.gpus_per_node
        else:
            moved = max(before.world, after.world)
        yield Figure(f"{name}: ranks that move", "ranks", 0, moved, _whole)


def _whole(value: float) -> str:
    return f"{value:,.0f}"
