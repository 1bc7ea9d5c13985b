"""Accelerators: memory, arithmetic rate, links and what the driver and Slurm call them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt, StringConstraints

from iacgen.catalog.entry import Entry, Facts, Text

Share = Annotated[float, Field(gt=0, le=1)]


class Efficiency(Facts):
    """Shares of the dense bf16 peak, and of the memory's rate, that training steps reach, fitted on published runs.

    ``fitted`` are the ids of these runs in ``tests/cases/training_cases.csv``: no error is counted on them.
    """

    matmul: Share = Field(description="matrices so large that neither tiles nor operands cost time")
    attention: Share = Field(description="flash attention, its causal half counted")
    unfused: Share = Field(description="memory's rate of PyTorch's own kernels between the matrix products")
    fitted: tuple[Text, ...] = Field(min_length=1)


class Gpu(Entry):
    """One GPU model. Rates are dense: the doubled figures for sparse matrices are never used."""

    kind: Literal["gpu"]
    vendor: Text
    memory_gib: PositiveFloat = Field(description="GiB that the driver reports, not the decimal GB of the data sheet")
    context_gib: PositiveFloat = Field(description="GiB to keep free for the CUDA context, NCCL and fragmentation")
    bf16_tflops: PositiveFloat = Field(description="dense bf16 peak, 10^12 floating-point operations a second")
    best_gemm_tflops: PositiveFloat | None = Field(default=None, description="best bf16 matrix product measured, same unit")
    hbm_tbps: PositiveFloat = Field(description="memory bandwidth, 10^12 bytes a second")
    nvlink_gbytes_per_s: PositiveFloat = Field(description="links of one GPU to the others of its server (NVLink, Infinity Fabric), both directions together, 10^9 bytes a second")
    multiprocessors: PositiveInt | None = Field(default=None, description="units that each work on one tile of a matrix at a time")
    efficiency: Efficiency | None = Field(default=None, description="what training steps reach; None: no published run to fit on")
    tdp_w: PositiveInt | None = Field(default=None, description="most that a board draws; None where it is not published")
    compute_capability: Annotated[str, StringConstraints(pattern=r"^\d+\.\d$")] | None = Field(default=None, description="NVIDIA's; None for other vendors")
    driver_branch: PositiveInt | None = Field(default=None, description="first branch of NVIDIA's driver that knows the GPU")
    slurm_type: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+$")] = Field(description="type in gres.conf: gpu:<type>:8")

    @property
    def noun(self) -> str:
        """What people call one: TPUs are planned in the terms of GPUs (`tpus.as_gpu`) and keep their name."""
        return "TPU" if self.slurm_type == "tpu" else "GPU"

    @property
    def usable_gib(self) -> float:
        """GiB that a job can plan with."""
        return self.memory_gib - self.context_gib
