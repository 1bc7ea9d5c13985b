"""What is said of ``parallel: auto``: what it chose, what the next ways lose to that, or why nothing was chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from iacgen.diagnostics import Diagnostic
from iacgen.training.search import Found, deciding, search
from iacgen.training.step import WORDS
from iacgen.units import gib, seconds

if TYPE_CHECKING:
    from iacgen.training.search import NothingFits, Plan
    from iacgen.training.spec import JobSpec


def chosen_plan(found: Found) -> Diagnostic:
    """What ``parallel: auto`` chose, and what the next ones lose to it."""
    best, spec = found.best, found.best.spec
    lines = [f"{plan.words}: {seconds(plan.seconds)}, {loss(plan, best)}" for plan in found.others]
    return Diagnostic(
        "IAC391", "plan-chosen", "info",
        f"{spec.name}: {best.words} takes {seconds(best.seconds)} a step, the least of {found.ways:,} ways that divide",
        spec.at("parallel"), help="\n".join(["next fastest:", *lines]) if lines else None,
    )  # fmt: skip


def no_plan(spec: JobSpec, found: NothingFits, free: frozenset[str] = frozenset()) -> Diagnostic:
    """Why ``parallel: auto`` chose nothing, where ``free`` was open besides the cut."""
    if not spec.node_bytes_per_s and spec.world > spec.nvlink_domain and not found.ways:
        message = f"{spec.name} takes {spec.nodes:,} nodes, and no compute fabric joins them: no way to cut it has a time"
        help = "connect the pool to a fabric with purpose: compute, or state the sizes of parallel"
    elif found.least is None:
        message = f"no way to cut {spec.model.name} over {spec.world:,} GPUs goes with global_batch {spec.global_batch} and sequence {spec.sequence}"
        help = "change count or global_batch, so that copies of the model divide both"
    else:
        message = f"{spec.model.name} fits on {spec.world:,} x {spec.gpu.id} in none of {found.ways:,} ways: the least that one GPU needs is {gib(found.least)} of {gib(found.room)}"
        help = _room(spec, free)
    return Diagnostic("IAC390", "no-plan-fits", "error", message, spec.at("parallel"), help=help)


def _room(spec: JobSpec, free: frozenset[str]) -> str:
    """What would give the job room: the number of nodes that it fits, found by doubling, and the keys that tie it."""
    counts = (spec.nodes << n for n in range(1, 5))
    fits = next((n for n in counts if isinstance(search(replace(spec, nodes=n, usable_nodes=n), free, shown=0), Found)), None)
    has = "" if spec.usable_nodes is None or fits is None or fits <= spec.usable_nodes else f", of which the pool has {spec.usable_nodes:,}"
    ways = [f"take {fits:,} nodes (count: {fits}{has})"] if fits else []
    tied = [key for key in ("micro_batch", "recompute", "zero") if key not in free and (key != "zero" or spec.framework == "deepspeed")]
    ways += [f"leave {' and '.join(tied)} out"] if tied else []
    ways += ["offload the optimizer's states"] if spec.offload_optimizer == "none" else []
    return ", or ".join(ways) + ("" if fits else f"; {spec.nodes << 4:,} nodes would be too few as well").removeprefix("" if ways else "; ")


def loss(plan: Plan, faster: Plan) -> str:
    """In which part a plan loses against a faster one, in words."""
    part, lost = deciding(plan, faster)
    return f"{seconds(lost)} more {WORDS[part]}" if lost > 0 else "as fast"
