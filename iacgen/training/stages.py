"""How layers divide over pipeline stages, and what to change where they do not; rules of ``batch.check``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from iacgen.diagnostics import Diagnostic
from iacgen.training.parameters import stage_layers
from iacgen.training.said import Rule, error

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec


def _layers_divide(spec: JobSpec) -> Iterator[Diagnostic]:
    """Megatron-LM validate_args: layers, with the embedding and the loss where they count, divisible by pipeline * virtual. Where the
    ends have numbers of their own: what is left divides over the other stages, and each stage over its chunks. DeepSpeed deals out
    what it gets (runtime/utils.py, partition_balanced), so that each stage needs a layer and no more."""
    if spec.framework == "deepspeed":
        if spec.model.layers < spec.pipeline:
            yield error(spec, 306, "layers-not-divisible", f"{spec.model.layers} layers are fewer than {spec.pipeline} stages", ("parallel", "pipeline"), f"use {spec.model.layers} stages or fewer")
        return
    if spec.first_layers is not None or spec.last_layers is not None:
        yield from _layers_left_divide(spec)
        return
    chunks = spec.pipeline * spec.virtual
    counted = spec.model.layers + spec.embedding_as_layer + spec.loss_as_layer
    if counted % chunks or counted // chunks < 1:
        yield error(
            spec, 306, "layers-not-divisible",
            f"{counted} layers do not divide into {chunks} chunks (pipeline {spec.pipeline} * virtual {spec.virtual})",
            ("parallel", "pipeline"), _advice(spec, counted),
        )  # fmt: skip


def _advice(spec: JobSpec, counted: int) -> str:
    """Sizes that divide, and for Megatron the ends that make these stages come out even."""
    sizes = [n // spec.virtual for n in range(1, counted + 1) if counted % n == 0 and n % spec.virtual == 0]
    ways = [f"with virtual {spec.virtual}, pipeline can be {', '.join(map(str, sizes))}"] if sizes else []
    if spec.framework == "megatron" and spec.pipeline > 1:
        ways += [f"keep pipeline {spec.pipeline} with {words}" for words in (_counted_ends(spec), _own_ends(spec)) if words]
    return "; or ".join(ways) or f"no size of pipeline goes with virtual {spec.virtual}: use a divisor of {counted} for it, or virtual: 1"


def _counted_ends(spec: JobSpec) -> str | None:
    chunks = spec.pipeline * spec.virtual
    for embedding, loss in ((True, False), (False, True), (True, True)):
        counted = spec.model.layers + embedding + loss
        if counted % chunks == 0 and counted > spec.pipeline:  # else a stage would have no layer at all
            names = [name for name, said in (("embedding_as_layer", embedding), ("loss_as_layer", loss)) if said]
            return " and ".join(f"{name}: true" for name in names)
    return None


def _own_ends(spec: JobSpec) -> str | None:
    """Ends as near to the other stages as can be, each stage a multiple of the chunks."""
    layers, v, between = spec.model.layers, spec.virtual, spec.pipeline - 2
    full = -(-layers // (spec.pipeline * v)) * v
    for inner in (full, full - v):
        left = layers - between * inner  # for both ends
        for first in (inner, left // (2 * v) * v):
            wanted = replace(spec, first_layers=first, last_layers=left - first, embedding_as_layer=False, loss_as_layer=False)
            if inner > 0 and 0 < left - first <= inner and 0 < first <= inner and not list(_layers_left_divide(wanted)):
                return f"last_layers: {left - first}" if first == inner else f"first_layers: {first} and last_layers: {left - first}"
    return None


def _layers_left_divide(spec: JobSpec) -> Iterator[Diagnostic]:
    layers = stage_layers(spec)
    ends = " and ".join(f"{name} {n}" for name, n in (("first_layers", spec.first_layers), ("last_layers", spec.last_layers)) if n is not None)
    if sum(layers) != spec.model.layers or min(layers) < 1 or any(n % spec.virtual for n in layers):
        yield error(
            spec, 306, "layers-not-divisible",
            f"with {ends}, {spec.model.layers} layers do not divide over {spec.pipeline} stages of {spec.virtual} chunks",
            ("parallel", "pipeline"), "choose the ends so that the other stages share what is left evenly, each a multiple of virtual",
        )  # fmt: skip


STAGES: tuple[Rule, ...] = (_layers_divide,)
