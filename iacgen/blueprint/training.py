"""The job that the cluster is built for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import AbsolutePath, Argument, CatalogId, Name, PoolName, Seconds, Section


class Parallel(Section):
    """How the model is cut; the data-parallel size follows."""

    tensor: int = Field(1, ge=1, le=64, description="Tensor-parallel size, inside the NVLink domain")
    pipeline: int = Field(1, ge=1, le=512, description="Pipeline stages")
    virtual: int = Field(1, ge=1, le=64, description="Model chunks for each stage (interleaved schedule)")
    context: int = Field(1, ge=1, le=256, description="Context-parallel size: parts of a sequence")
    expert: int = Field(1, ge=1, le=512, description="Expert-parallel size")
    sequence: bool = Field(True, description="Sequence parallelism beside tensor parallelism")


class Checkpoint(Section):
    """Where the state is saved, and how long that may take."""

    to: Name = Field(description="Storage section")
    target: Seconds = Field(60.0, description="Time that one checkpoint may take")


class Training(Section):
    """One job."""

    model: CatalogId = Field(description="Catalog id of the model")
    nodes: PoolName = Field(description="Pool that it runs on")
    count: int | None = Field(None, ge=1, description="Nodes that it takes; all but the spares by default")
    sequence: int = Field(ge=128, le=4_194_304, description="Tokens in a sequence")
    global_batch: int = Field(ge=1, description="Sequences in a step")
    micro_batch: int = Field(1, ge=1, description="Sequences that one pass takes")
    parallel: Parallel = Field(Parallel(), description="How the model is cut")
    framework: Literal["megatron", "deepspeed"] = Field(description="What trains it")
    zero: Literal[0, 1, 2, 3] | None = Field(None, description="ZeRO stage of DeepSpeed; 3 by default there")
    gradients: Literal["bf16", "fp32"] = Field("fp32", description="Type that gradients are summed in")
    recompute: Literal["none", "selective", "full"] = Field("selective", description="Activations computed again in the backward pass")
    checkpoint: Checkpoint | None = Field(None, description="Where the state is saved")
    script: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9._-]{1,63}){1,10}$")] = Field("/opt/train/pretrain.py", description="Training script, at the same path on every node")
    arguments: tuple[Argument, ...] = Field((), strict=False, max_length=200, description="Further arguments of the script")
    data: AbsolutePath | None = Field(None, description="Data set, as the script finds it")
