"""The smallest changes of a blueprint after which a job adds up and fits: one alone, or two together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from iacgen.diagnostics import errors
from iacgen.training import batch
from iacgen.training.memory import table
from iacgen.training.offload import host_memory
from iacgen.training.search import Found, search
from iacgen.units import gib

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

Change = tuple[str, dict[str, Any]]
"""What to write, and the numbers of the job that this changes."""

MOST, MOST_PAIRS = 6, 3  # that a person reads
LARGEST_CONTEXT = 64
NODES = 4096
"""Counts that are tried: all that the pool has up to so many, as many as the language's largest unit of a fabric has hosts."""
TRIALS = 20_000
"""Pairs whose arithmetic is looked into, less those that leave GPUs or sequences over: some seconds at most."""


def remedies(spec: JobSpec) -> str:
    """One line: of each kind of change the smallest that does it alone; else the smallest pairs of changes that do it together, of all
    pairs; else that there is none, or how many were tried, and what a search of all cuts finds."""
    kinds = [kind for kind in _kinds(spec) if kind]
    alone = (next(filter(None, (_fitting(spec, *change) for change in kind)), None) for kind in kinds)
    good = [words for words in alone if words][:MOST]
    if good:
        return "would fit with " + ", or ".join(good)
    good, tried = _pairs(spec, kinds)
    if good:
        return "no single change makes it fit; it would with " + ", or ".join(good)
    keys = "no change of recompute, micro_batch, parallel, zero, gradients, offload or count"
    several = "two of them together" if tried < TRIALS else f"any of {tried:,} pairs of them that were tried"
    return f"{keys} makes it fit, nor {several}{_by_search(spec)}"


def _by_search(spec: JobSpec) -> str:
    """What ``parallel: auto`` finds where it may choose the micro batch and recomputation too."""
    found = search(spec, frozenset({"micro_batch", "recompute"}), shown=0)
    return f"; parallel: auto with micro_batch and recompute left out does: {found.best.words} ({gib(found.best.memory.worst.total)})" if isinstance(found, Found) else ""


def _pairs(spec: JobSpec, kinds: list[list[Change]]) -> tuple[list[str], int]:
    """The smallest pair of each two kinds that fits, the smallest of all first, and how many were looked into. A pair is as large as its
    changes stand far back in the lists of their kinds."""
    found, tried = [], 0
    for first, second in combinations(kinds, 2):
        orders = sorted(product(range(len(first)), range(len(second))), key=lambda at: (sum(at), at))
        for i, j in orders:
            (a, numbers), (b, more) = first[i], second[j]
            if not _divides(spec, numbers | more):
                continue
            tried += 1
            if tried >= TRIALS:
                break
            if words := _fitting(spec, f"{a} and {b}", numbers | more):
                found.append((i + j, len(found), words))
                break
    return [words for *_, words in sorted(found)[:MOST_PAIRS]], tried


def _divides(spec: JobSpec, numbers: dict[str, Any]) -> bool:
    """Whether copies of the model fill the GPUs and divide the batch: the quick part of ``batch.check``."""
    nodes, micro, t, p, c = (numbers.get(name) or getattr(spec, name) for name in ("nodes", "micro_batch", "tensor", "pipeline", "context"))
    world, size = nodes * spec.gpus_per_node, t * p * c
    return world % size == 0 and spec.global_batch % (micro * (world // size)) == 0


def _fitting(spec: JobSpec, words: str, numbers: dict[str, Any]) -> str | None:
    if not _divides(spec, numbers):
        return None
    changed = replace(spec, **numbers)
    if errors(batch.check(changed)):
        return None
    host, memory = host_memory(changed), table(changed)
    room = host is None or (host.fits and (host.nvme_room is not None or not host.nvme_bytes))
    return f"{words} ({gib(memory.worst.total)})" if memory.fits and room else None


def _kinds(spec: JobSpec) -> Iterator[list[Change]]:
    """Changes of one kind together, from the smallest to the largest; of sizes that may grow and shrink those first that grow."""
    ways = ("none", "selective", "full")
    frees = [way for way in ways[ways.index(spec.recompute) + 1 :] if way == "full" or not spec.flash_attention]
    yield [(f"recompute: {way}", {"recompute": way}) for way in frees]
    yield [(f"micro_batch: {n}", {"micro_batch": n}) for n in range(spec.micro_batch - 1, 0, -1)]
    yield from _cuts(spec)
    stages = {"deepspeed": (0, 1, 2, 3), "fsdp": (2, 3)}.get(spec.framework, ())
    yield [(f"zero: {stage}", {"zero": stage}) for stage in _from(spec.zero, stages)]
    yield [(f"count: {n}", {"nodes": n}) for n in range(spec.nodes + 1, min(spec.usable_nodes or 0, NODES) + 1)]
    if spec.gradients == "fp32":
        yield [("gradients: bf16", {"gradients": "bf16"})]
    for group in ("shard_group", "secondary_group"):
        if getattr(spec, group):
            yield [(f"no {group}", {group: None})]
    if spec.offload_optimizer == "none":
        both = spec.framework == "fsdp" and spec.offload_weights == "none"  # it moves neither alone
        yield [(f"offload.optimizer: {place}{' and offload.weights: cpu' * both}", {"offload_optimizer": place} | ({"offload_weights": "cpu"} if both else {})) for place in ("cpu", "nvme")]
    if spec.offload_weights == "none" and spec.framework == "deepspeed":
        yield [(f"offload.weights: {place}", {"offload_weights": place}) for place in ("cpu", "nvme")]


def _cuts(spec: JobSpec) -> Iterator[list[Change]]:
    """Other sizes of parallel, and ends that count as layers. DeepSpeed's tensor groups know no sequence parallelism."""
    layers, experts = spec.model.layers, spec.model.experts.count if spec.model.experts else 1
    cut = spec.framework != "deepspeed"
    parts = sorted({1 << n for n in range(LARGEST_CONTEXT.bit_length())} | {spec.context << n for n in range(4)})
    yield [(f"parallel.context: {n}", {"context": n}) for n in _from(spec.context, parts)]
    domain = [n for n in range(1, spec.nvlink_domain + 1) if spec.model.heads % n == 0]
    yield [(f"parallel.tensor: {n}", {"tensor": n, "sequence_parallel": cut and n > 1}) for n in _from(spec.tensor, domain)]
    own = spec.first_layers is not None or spec.last_layers is not None
    stages = [n for n in range(1, layers + 3) if own or any((layers + ends) % n == 0 for ends in (0, 1, 2))]
    yield [(f"parallel.pipeline: {n}", {"pipeline": n}) for n in _from(spec.pipeline, stages)]
    yield [(f"parallel.virtual: {n}", {"virtual": n}) for n in range(spec.virtual - 1, 0, -1)]
    yield [(f"parallel.expert: {n}", {"expert": n}) for n in _from(spec.expert, [n for n in range(1, experts + 1) if experts % n == 0])]
    if spec.framework == "megatron":
        yield [
            (f"parallel.{' and '.join(names)}: true", dict.fromkeys(names, True))
            for names in (("embedding_as_layer",), ("loss_as_layer",), ("embedding_as_layer", "loss_as_layer")) if not all(getattr(spec, name) for name in names)
        ]  # fmt: skip


def _from(size: int, sizes: tuple[int, ...] | list[int]) -> list[int]:
    """Larger ones, the nearest first, then smaller ones, the nearest first."""
    return [n for n in sizes if n > size] + [n for n in reversed(sizes) if n < size]
