"""The job that the cluster is built for."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from .base import WHOLE, AbsolutePath, Argument, CatalogId, Description, Name, PoolName, Seconds, Section
from .assume import Assume
from .failures import Failures
from .input import Input


class Parallel(Section):
    """How the model is cut; the data-parallel size follows."""

    tensor: int = Field(1, ge=1, le=64, description="Tensor-parallel size, inside the NVLink domain", examples=[8])
    pipeline: int = Field(1, ge=1, le=512, description="Pipeline stages", examples=[9])
    virtual: int = Field(1, ge=1, le=64, description="Model chunks for each stage (interleaved schedule)", examples=[7])
    context: int = Field(1, ge=1, le=256, description="Context-parallel size: parts of a sequence", examples=[2])
    expert: int = Field(1, ge=1, le=512, description="Expert-parallel size", examples=[8])
    expert_tensor: int = Field(1, ge=1, le=64, description="Tensor-parallel size of the experts", examples=[1])
    expert_capacity: float | None = Field(None, ge=0.1, le=64, description="Tokens that an expert takes at most, as a multiple of its even share; none are dropped by default", examples=[1.25])
    sequence: bool = Field(True, description="Sequence parallelism beside tensor parallelism", examples=[True])
    first_layers: int | None = Field(None, ge=0, le=4096, description="Layers on the first pipeline stage, where it has another number than the rest", examples=[7])
    last_layers: int | None = Field(None, ge=0, le=4096, description="Layers on the last pipeline stage, where it has another number than the rest", examples=[6])
    embedding_as_layer: bool = Field(False, description="The first pipeline stage has one layer less for its embedding", examples=[True])
    loss_as_layer: bool = Field(False, description="The last pipeline stage has one layer less for the output layer", examples=[True])


class _OrAuto:
    """``auto`` in the place of the section: None here, and one more choice in the JSON Schema."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        choices = handler(core)["anyOf"]
        return {"anyOf": [*(choice for choice in choices if choice.get("type") != "null"), {"const": "auto", "type": "string"}]}


def _left_open(value: object) -> object:
    """None for ``auto``; an empty key stays a mistake."""
    return None if value == "auto" else "" if value is None else value


Cut = Annotated[Parallel | None, BeforeValidator(_left_open), _OrAuto()]
"""How the model is cut, or None where iacgen chooses."""


class Checkpoint(Section):
    """Where the state is saved, and how long that may take."""

    to: Name = Field(description="Storage section", examples=["scratch"])
    target: Seconds | None = Field(None, description="Time that one checkpoint may take; 60 s are assumed where none is promised", examples=["60s", "2min"])


class Offload(Section):
    """What leaves the GPU for the node's memory or its NVMe."""

    optimizer: Literal["cpu", "nvme"] | None = Field(None, description="Where the optimizer's states lie and its step is computed", examples=["cpu", "nvme"])
    weights: Literal["cpu", "nvme"] | None = Field(None, description="Where the weights lie that are not in use", examples=["cpu"])
    path: AbsolutePath = Field("/local", description="Folder on each node's NVMe", examples=["/local"])


class Training(Section):
    """One job."""

    description: Description | None = Field(None, description="What the job is for, in a line", examples=["The run of the paper"])
    model: CatalogId = Field(description="Catalog id of the model, or its name in models", examples=["llama-3-8b", "llama-3.1-405b"])
    nodes: PoolName = Field(description="Pool that it runs on", examples=["gpu"])
    count: int | None = Field(None, ge=1, description="Nodes that it takes; all but the spares by default, also while spares stand in for hosts that are down", examples=[126])
    sequence: int = Field(ge=128, le=4_194_304, description="Tokens in a sequence", examples=[8192])
    global_batch: int = Field(ge=1, le=16_777_216, description="Sequences in a step", examples=[256])
    micro_batch: int = Field(1, ge=1, le=65_536, description="Sequences that one pass takes", examples=[1])
    parallel: Cut = Field(Parallel(), description="How the model is cut; auto: the fastest way that fits, with micro_batch, recompute and zero where they are left out", examples=[{"tensor": 8, "pipeline": 9, "virtual": 7, "context": 2}, "auto"])
    framework: Literal["megatron", "deepspeed", "fsdp"] = Field(description="What trains it", examples=["megatron", "deepspeed", "fsdp"])
    zero: Annotated[Literal[0, 1, 2, 3], WHOLE] | None = Field(None, description="ZeRO stage of DeepSpeed, or what FSDP shards: 2 keeps the weights whole between the passes of a step; 3 by default there", examples=[3])
    shard_group: int | None = Field(None, ge=1, le=131_072, description="GPUs that share one copy of the states (hybrid sharding of FSDP); all by default", examples=[8])
    secondary_group: int | None = Field(None, ge=1, le=131_072, description="GPUs that keep a second copy of the weights between them, so that the backward pass gathers near by (ZeRO++ hpZ)", examples=[8])
    offload: Offload | None = Field(None, description="What leaves the GPU", examples=[{"optimizer": "cpu"}])
    precision: Literal["bf16", "fp8"] = Field("bf16", description="Type that linear layers compute in; fp8 by Transformer Engine, in Megatron alone", examples=["fp8"])
    gradients: Literal["bf16", "fp32"] = Field("fp32", description="Type that gradients are summed in", examples=["bf16"])
    recompute: Literal["none", "selective", "full"] = Field("none", description="Activations computed again in the backward pass; selective frees nothing beside flash attention", examples=["full"])
    checkpoint: Checkpoint | None = Field(None, description="Where the state is saved", examples=[{"to": "scratch", "target": "60s"}])
    script: Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9._-]{1,63}){1,10}$")] = Field("/opt/train/pretrain.py", description="Training script, at the same path on every node", examples=["/opt/train/pretrain.py"])
    arguments: tuple[Argument, ...] = Field((), strict=False, max_length=200, description="Further arguments of the script", examples=[["--lr", "3e-4"]])
    data: AbsolutePath | None = Field(None, description="Data set, as the script finds it", examples=["/scratch/data/corpus"])
    input: Input | None = Field(None, description="How the data gets to the GPUs", examples=[{"sample": "150kB", "prepare": "8ms", "size": "12TB"}])
    failures: Failures = Field(Failures(), description="How often nodes fail and how long they are missed", examples=[{"per_1000_node_days": 6.5, "availability": 0.99}])
    tokens: int | None = Field(None, ge=1, le=10**18, description="Tokens that the whole run takes, for its days, energy and cost", examples=[15_600_000_000_000])
    assume: Assume | None = Field(None, description="What the time of a step rests on, where you know better", examples=[{"matmul": 0.75, "gpu_hour": 2.5}])
