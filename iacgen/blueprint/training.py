"""The job that the cluster is built for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from .base import WHOLE, AbsolutePath, Argument, CatalogId, Description, Name, PoolName, Seconds, Section


class Parallel(Section):
    """How the model is cut; the data-parallel size follows."""

    tensor: int = Field(1, ge=1, le=64, description="Tensor-parallel size, inside the NVLink domain", examples=[8])
    pipeline: int = Field(1, ge=1, le=512, description="Pipeline stages", examples=[9])
    virtual: int = Field(1, ge=1, le=64, description="Model chunks for each stage (interleaved schedule)", examples=[7])
    context: int = Field(1, ge=1, le=256, description="Context-parallel size: parts of a sequence", examples=[2])
    expert: int = Field(1, ge=1, le=512, description="Expert-parallel size", examples=[8])
    sequence: bool = Field(True, description="Sequence parallelism beside tensor parallelism", examples=[True])


class Checkpoint(Section):
    """Where the state is saved, and how long that may take."""

    to: Name = Field(description="Storage section", examples=["scratch"])
    target: Seconds | None = Field(None, description="Time that one checkpoint may take; 60 s are assumed where none is promised", examples=["60s", "2min"])


class Training(Section):
    """One job."""

    description: Description | None = Field(None, description="What the job is for, in a line", examples=["The run of the paper"])
    model: CatalogId = Field(description="Catalog id of the model", examples=["llama-3-8b", "llama-3.1-405b"])
    nodes: PoolName = Field(description="Pool that it runs on", examples=["gpu"])
    count: int | None = Field(None, ge=1, description="Nodes that it takes; all but the spares by default", examples=[126])
    sequence: int = Field(ge=128, le=4_194_304, description="Tokens in a sequence", examples=[8192])
    global_batch: int = Field(ge=1, description="Sequences in a step", examples=[256])
    micro_batch: int = Field(1, ge=1, description="Sequences that one pass takes", examples=[1])
    parallel: Parallel = Field(Parallel(), description="How the model is cut", examples=[{"tensor": 8, "pipeline": 9, "virtual": 7, "context": 2}])
    framework: Literal["megatron", "deepspeed"] = Field(description="What trains it", examples=["megatron", "deepspeed"])
    zero: Annotated[Literal[0, 1, 2, 3], WHOLE] | None = Field(None, description="ZeRO stage of DeepSpeed; 3 by default there", examples=[3])
    gradients: Literal["bf16", "fp32"] = Field("fp32", description="Type that gradients are summed in", examples=["bf16"])
    recompute: Literal["none", "selective", "full"] = Field("selective", description="Activations computed again in the backward pass", examples=["selective", "full"])
    checkpoint: Checkpoint | None = Field(None, description="Where the state is saved", examples=[{"to": "scratch", "target": "60s"}])
    script: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9._-]{1,63}){1,10}$")] = Field("/opt/train/pretrain.py", description="Training script, at the same path on every node", examples=["/opt/train/pretrain.py"])
    arguments: tuple[Argument, ...] = Field((), strict=False, max_length=200, description="Further arguments of the script", examples=[["--lr", "3e-4"]])
    data: AbsolutePath | None = Field(None, description="Data set, as the script finds it", examples=["/scratch/data/corpus"])
