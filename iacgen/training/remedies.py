"""The smallest changes of a blueprint after which a job adds up and fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from iacgen.diagnostics import errors
from iacgen.training import batch
from iacgen.training.memory import table
from iacgen.training.offload import host_memory
from iacgen.units import gib

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

Change = tuple[str, dict[str, Any]]
"""What to write, and the numbers of the job that this changes."""

MOST = 6  # that a person reads
_NODES = 256  # further counts that are tried


def remedies(spec: JobSpec) -> str:
    """One line: of each kind of change the smallest that does it alone; else pairs of changes that do it together."""
    alone = (next(filter(None, map(lambda change: _fitting(spec, change), kind)), None) for kind in _kinds(spec))
    good = [words for words in alone if words][:MOST]
    if good:
        return "would fit with " + ", or ".join(good)
    farthest = [kind[-1] for kind in _kinds(spec) if kind]
    together = (_fitting(spec, (f"{a[0]} and {b[0]}", a[1] | b[1])) for a, b in combinations(farthest, 2))
    good = [words for words in together if words][:3]
    if good:
        return "no single change makes it fit; it would with " + ", or ".join(good)
    return "no change of recompute, micro_batch, parallel, zero, gradients, offload or count makes it fit, nor two of them together"


def _fitting(spec: JobSpec, change: Change) -> str | None:
    words, numbers = change
    changed = replace(spec, **numbers)
    if errors(batch.check(changed)):
        return None
    host, memory = host_memory(changed), table(changed)
    return f"{words} ({gib(memory.worst.total)})" if memory.fits and (host is None or host.fits) else None


def _kinds(spec: JobSpec) -> Iterator[list[Change]]:
    """Changes of one kind together, from the smallest to the largest."""
    ways = ("none", "selective", "full")
    frees = [way for way in ways[ways.index(spec.recompute) + 1 :] if way == "full" or not spec.flash_attention]
    yield [(f"recompute: {way}", {"recompute": way}) for way in frees]
    yield [(f"micro_batch: {n}", {"micro_batch": n}) for n in range(spec.micro_batch - 1, 0, -1) if spec.micro_batch % n == 0]
    yield _doubled("context", spec.context, 8 * spec.context, lambda n: {"context": n})
    cut = spec.framework != "deepspeed"  # whose tensor groups know no sequence parallelism
    yield _doubled("tensor", spec.tensor, spec.nvlink_domain, lambda n: {"tensor": n, "sequence_parallel": cut})
    yield _doubled("pipeline", spec.pipeline, 4 * spec.pipeline, lambda n: {"pipeline": n})
    experts = spec.model.experts.count if spec.model.experts else 1
    yield [(f"parallel.expert: {n}", {"expert": n}) for n in range(spec.expert + 1, experts + 1) if experts % n == 0]
    most = {"deepspeed": 3, "fsdp": 3}.get(spec.framework, 0)
    yield [(f"zero: {stage}", {"zero": stage}) for stage in range(spec.zero + 1, most + 1)]
    yield [(f"count: {n}", {"nodes": n}) for n in range(spec.nodes + 1, min(spec.usable_nodes or 0, spec.nodes + _NODES) + 1)]
    if spec.gradients == "fp32":
        yield [("gradients: bf16", {"gradients": "bf16"})]
    if spec.shard_group:
        yield [("no shard_group", {"shard_group": None})]
    if spec.offload_optimizer == "none":
        weights = {"offload_weights": "cpu"} if spec.framework == "fsdp" else {}
        yield [("offload.optimizer: cpu", {"offload_optimizer": "cpu"} | weights)]


def _doubled(name: str, size: int, most: int, numbers: Callable[[int], dict[str, Any]]) -> list[Change]:
    sizes = [size << n for n in range(1, 8) if size << n <= most]
    return [(f"parallel.{name}: {n}", numbers(n)) for n in sizes]
