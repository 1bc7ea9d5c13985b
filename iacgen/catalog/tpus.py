"""Google's TPUs: chips that a torus of their own links joins, sold in slices of a pod."""

from __future__ import annotations

from math import prod
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt, StringConstraints, model_validator

from iacgen.catalog.entry import Entry, Text
from iacgen.catalog.gpus import Gpu

Torus = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*(x[1-9][0-9]*){1,2}$")]


class Tpu(Entry):
    """One TPU version. Figures are those of a chip; rates are dense."""

    kind: Literal["tpu"]
    vendor: Text
    memory_gib: PositiveFloat = Field(description="GiB of HBM")
    bf16_tflops: PositiveFloat = Field(description="dense bf16 peak, 10^12 floating-point operations a second")
    hbm_tbps: PositiveFloat = Field(description="memory bandwidth, 10^12 bytes a second")
    ici_gbytes_per_s: PositiveFloat = Field(description="inter-chip interconnect of one chip, all its links, both directions together, 10^9 bytes a second")
    torus_dimensions: Literal[2, 3]
    pod_chips: PositiveInt = Field(description="chips that one torus joins")
    slices: tuple[Torus, ...] = Field(min_length=1, description="shapes that are sold, in chips")

    @model_validator(mode="after")
    def _slices_lie_in_the_pod(self) -> Tpu:
        for slice_ in self.slices:
            if slice_.count("x") + 1 != self.torus_dimensions:
                raise ValueError(f"slice {slice_} is no shape of {self.torus_dimensions} dimensions")
            if chips(slice_) > self.pod_chips:
                raise ValueError(f"slice {slice_} has more than the {self.pod_chips} chips of a pod")
        return self


RUNTIME_GIB = 1.0
"""HBM that is kept free for the runtime and fragmentation. Assumed: nobody publishes it."""


def as_gpu(tpu: Tpu) -> Gpu:
    """A chip in the terms of the arithmetic of jobs. A ring of ranks lies along one axis of the torus, whose links are the chip's divided by
    the axes; no power is published."""
    return Gpu(
        kind="gpu", id=tpu.id, name=tpu.name, vendor=tpu.vendor, sources=tpu.sources, memory_gib=tpu.memory_gib, context_gib=RUNTIME_GIB, bf16_tflops=tpu.bf16_tflops,
        hbm_tbps=tpu.hbm_tbps, nvlink_gbytes_per_s=tpu.ici_gbytes_per_s / tpu.torus_dimensions, slurm_type="tpu",
    )  # fmt: skip


def chips(torus: str) -> int:
    """Chips of a slice: 4x4x8 has 128."""
    return prod(map(int, torus.split("x")))
