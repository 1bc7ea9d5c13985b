"""``parallel: auto``: of all ways to cut a job that its framework accepts, the one with the fastest step that fits with headroom.

Ways that cut layers alike (same tensor, context, expert size, micro batch, recomputation) share the time of a micro batch in each piece
of the model. For each of these, stages and chunks are arrays: what does not divide is struck out, and the rest gets a lower bound of
its step, in which stages are alike and no message counts. Ways are then timed in the order of their bounds until no bound is below
what was found. ``batch.check`` and the memory table judge each; nothing is placed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from iacgen.diagnostics import errors
from iacgen.training import batch, memory
from iacgen.training.links import links
from iacgen.training.spec import TITAN_MODELS
from iacgen.training.step import Pieces, StepTime, pieces, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iacgen.training.memory import MemoryTable
    from iacgen.training.spec import JobSpec

HEADROOM = 0.04
"""Share of the room that stays free: below it a plan is warned of (IAC331)."""

LARGEST_MICRO_BATCH = 64
LARGEST_CONTEXT = 64

CHOICES = ("tensor", "pipeline", "virtual", "context", "expert", "embedding_as_layer", "loss_as_layer")
"""What ``parallel: auto`` chooses of a JobSpec; ``micro_batch``, ``recompute`` and ``zero`` besides where nobody states them."""


@dataclass(frozen=True)
class Plan:
    """One way to cut a job, how long its step takes and how much of the GPU's memory it needs."""

    spec: JobSpec
    step: StepTime
    memory: MemoryTable

    @property
    def seconds(self) -> float:
        return self.step.seconds

    @property
    def words(self) -> str:
        """The cut in the blueprint's words, sizes of 1 left out."""
        spec = self.spec
        sizes = [f"{name} {getattr(spec, name)}" for name in ("tensor", "context", "pipeline", "virtual", "expert") if getattr(spec, name) > 1]
        zero = [f"zero {spec.zero}"] if spec.framework != "megatron" else []
        return ", ".join([*sizes, f"data {spec.data_parallel}", f"micro batch {spec.micro_batch}", f"recompute {spec.recompute}", *zero])


@dataclass(frozen=True)
class Found:
    """What a search found: the fastest plan that fits with headroom and the next ones, fastest first, how many ways divide, and how many
    that may be faster lack room."""

    best: Plan
    others: tuple[Plan, ...]
    ways: int
    too_large: int


@dataclass(frozen=True)
class NothingFits:
    """No way to cut the job adds up and fits; ``least`` is the bytes that a GPU needs in the one that needs least, of ``room`` that it has,
    and None where none adds up."""

    ways: int
    least: int | None
    room: int


def deciding(plan: Plan, faster: Plan) -> tuple[str, float]:
    """The part of the step in which ``plan`` loses most against ``faster``, and how many seconds."""
    losses = {name: seconds - faster.step.parts[name] for name, seconds in plan.step.parts.items()}
    name = max(losses, key=lambda part: losses[part])
    return name, losses[name]


def timed(spec: JobSpec) -> Plan | None:
    """A stated way to cut a job as a plan, headroom or not; None when it does not add up or does not fit."""
    if errors(batch.check(spec)):
        return None
    table = memory.table(spec)
    return Plan(spec, step(spec), table) if table.fits else None


def search(spec: JobSpec, free: frozenset[str] = frozenset(), shown: int = 3) -> Found | NothingFits:
    """The plans for a job whose cut is left open. ``free`` names further fields to choose (``micro_batch``, ``recompute``, ``zero``);
    the others keep their values. Where no plan fits with headroom, those that just fit count. The same job always gets the same answer.
    """
    over = links(spec)
    joined = over.network > 0 or spec.world <= over.domain  # else no way has a time
    known: dict[JobSpec, Pieces] = {}
    grids = [grid for cut in _cuts(spec, free) for grid in [_grid(cut, known)] if grid] if joined else []
    if not grids:
        return NothingFits(0, None, _room(spec))
    bounds = np.concatenate([grid.bound for grid in grids])
    owner = np.concatenate([np.full(len(grid.bound), i) for i, grid in enumerate(grids)])
    first = np.concatenate([[0], np.cumsum([len(grid.bound) for grid in grids])])
    roomy: list[Plan] = []
    tight: list[Plan] = []
    least: int | None = None
    too_large = 0
    for number in np.argsort(bounds, kind="stable"):
        if len(roomy) > shown and bounds[number] > roomy[shown].seconds:
            break
        grid = grids[owner[number]]
        candidate = grid.spec(int(number - first[owner[number]]))
        if errors(batch.check(candidate)):
            continue
        room = _room(spec)
        if (need := memory.stage_memory(candidate, 0).total) > room:  # the other stages need not be counted
            too_large += 1
            least = min(need, least or need)
            continue
        table = memory.table(candidate)
        plan = Plan(candidate, step(candidate, grid.pieces), table)
        if table.worst.total <= (1 - HEADROOM) * room:
            roomy.append(plan)
            roomy.sort(key=_rank)
            continue
        too_large += 1
        if table.fits and len(tight) <= shown:
            tight.append(plan)
        least = min(table.worst.total, least or table.worst.total)
    plans = roomy or sorted(tight, key=_rank)
    return Found(plans[0], tuple(plans[1 : shown + 1]), len(bounds), too_large) if plans else NothingFits(len(bounds), least, _room(spec))


def _room(spec: JobSpec) -> int:
    """Bytes of a GPU that a job may use."""
    return round(spec.gpu.memory_gib * memory.GIB) - round(spec.gpu.context_gib * memory.GIB)


def _rank(plan: Plan) -> tuple[Any, ...]:
    """Fastest first; of equals, to the microsecond, the one that cuts least."""
    spec = plan.spec
    return round(plan.seconds, 6), spec.pipeline, spec.context, spec.tensor, spec.virtual, spec.expert, spec.micro_batch, spec.recompute, spec.zero


@dataclass(frozen=True)
class _Grid:
    """All pipelines of one cut of the layers: arrays of equal length."""

    cut: JobSpec
    pieces: Pieces
    pipeline: NDArray[np.int64]
    virtual: NDArray[np.int64]
    ends: NDArray[np.int64]
    bound: NDArray[np.float64]

    def spec(self, number: int) -> JobSpec:
        ends = int(self.ends[number])
        return replace(
            self.cut, pipeline=int(self.pipeline[number]), virtual=int(self.virtual[number]),
            embedding_as_layer=bool(ends & 1), loss_as_layer=bool(ends & 2),
        )  # fmt: skip


@lru_cache(maxsize=64)
def _stages(layers: int, framework: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Stages, chunks and ends (a bit for each end that counts as a layer) that divide so many layers."""
    megatron = framework == "megatron"
    chosen = [
        (p, v, ends)
        for ends in range(4 if megatron else 1)
        for counted in [layers + (ends & 1) + (ends >> 1)]
        for p in (_divisors(counted) if framework != "fsdp" else [1])
        for v in (_divisors(counted // p) if megatron and p > 1 else [1])
        if p > 1 or not ends
    ]
    p, v, ends = (np.array(axis, dtype=np.int64) for axis in zip(*chosen, strict=True))
    return p, v, ends


def _grid(cut: JobSpec, known: dict[JobSpec, Pieces]) -> _Grid | None:
    """Pipelines that divide the GPUs, the layers and the micro batches. ``known`` keeps the pieces of the model between cuts."""
    copies, layers = cut.world // (cut.tensor * cut.context), cut.model.layers
    p, v, ends = _stages(layers, cut.framework)
    data = np.maximum(copies // p, 1)
    m = cut.global_batch // (cut.micro_batch * data)
    fine = (copies % p == 0) & (cut.global_batch % (cut.micro_batch * data) == 0) & ((v == 1) | (m % p == 0))
    if not fine.any():
        return None
    p, v, ends, m = p[fine], v[fine], ends[fine], m[fine]
    alike = replace(cut, zero=2) if cut.zero > 2 else cut  # between these two stages messages differ, not computation
    of = known.get(alike) or known.setdefault(alike, pieces(alike))
    experts = cut.model.layers - cut.model.experts.dense_layers if cut.model.experts else 0
    wait = of.tensor + of.context
    whole = (layers - experts) * (of.ordinary.total + wait) + experts * (of.experts.total + wait + of.expert + of.expert_tensor) + of.embedding.total + of.output.total
    return _Grid(cut, of, p, v, ends, m * whole / p + (whole - whole / p) / v)


def _cuts(spec: JobSpec, free: frozenset[str]) -> Iterator[JobSpec]:
    """Ways to cut the layers themselves, by tensor, context, experts and micro batch, and what to repeat and to shard."""
    model, megatron = spec.model, spec.framework == "megatron"
    dealt = spec.framework != "fsdp" or model.id in TITAN_MODELS  # Accelerate deals out no experts
    repeats = _repeats(spec) if "recompute" in free else (spec.recompute,)
    stages = (1, 2, 3) if "zero" in free and not megatron else (spec.zero,)
    micros = _small_divisors(spec.global_batch, LARGEST_MICRO_BATCH) if "micro_batch" in free else [spec.micro_batch]
    for t in (t for t in _divisors(spec.nvlink_domain) if model.heads % t == 0 and replace(spec, tensor=t).keeps_to_nvlink):
        for c in (c for c in _small_divisors(spec.sequence, LARGEST_CONTEXT) if spec.world % (t * c) == 0):
            for e in _divisors(model.experts.count) if model.experts and dealt else (1,):
                if spec.world % e:
                    continue
                for b in micros:
                    for repeat in repeats:
                        for zero in (z for z in stages if z < 3 or e == 1 or spec.framework != "deepspeed"):  # IAC351
                            yield replace(
                                spec, tensor=t, context=c, expert=e, micro_batch=b, recompute=repeat, zero=zero, pipeline=1, virtual=1, data=None,
                                sequence_parallel=spec.framework != "deepspeed" and t > 1, first_layers=None, last_layers=None,
                            )  # fmt: skip


def _repeats(spec: JobSpec) -> tuple[Any, ...]:
    """Selective recomputation frees attention matrices; where none are stored it frees nothing."""
    return ("none", "full") if spec.flash_attention else ("none", "selective", "full")


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0] if n < 4096 else sorted({d for i in range(1, int(n**0.5) + 1) if n % i == 0 for d in (i, n // i)})


def _small_divisors(n: int, most: int) -> list[int]:
    return [d for d in range(1, min(n, most) + 1) if n % d == 0]
