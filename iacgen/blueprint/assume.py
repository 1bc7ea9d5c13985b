"""What a blueprint states in the place of what the time of a step, its energy and its cost rest on otherwise."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from .base import Section, Watts

Share = Annotated[float, Field(gt=0, le=1)]
Overlap = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0, le=10_000)]


class Assume(Section):
    """Figures of your own machines and runs; each one left out keeps what report.md prints."""

    matmul: Share | None = Field(None, description="Share of the dense bf16 peak that large matrices reach", examples=[0.72])
    attention: Share | None = Field(None, description="Share of that peak that flash attention reaches, its causal half counted", examples=[0.45])
    unfused: Share | None = Field(None, description="Share of the memory's rate of PyTorch's kernels between the matrices (DeepSpeed, FSDP)", examples=[0.5])
    hbm: Share | None = Field(None, description="Share of the memory's rate that fused kernels and the optimizer reach", examples=[0.85])
    misaligned: Share | None = Field(None, description="Rate of matrices whose sides are no multiples of 64, against those whose are", examples=[0.7])
    nvlink: Share | None = Field(None, description="Share of NVLink's rate that collectives reach", examples=[0.8])
    network: Share | None = Field(None, description="Share of its adapters' rate that a node reaches", examples=[0.9])
    pcie_gbytes_per_s: Rate | None = Field(None, description="What a GPU moves to and from host memory, 10^9 bytes a second", examples=[50.0])
    host_gbytes_per_s: Rate | None = Field(None, description="Host memory that an offloaded optimizer moves on a node, 10^9 bytes a second", examples=[300.0])
    nvme_gbytes_per_s: Rate | None = Field(None, description="What the NVMe of a node moves, 10^9 bytes a second", examples=[25.0])
    overlap_tensor: Overlap | None = Field(None, description="Part of tensor-parallel communication that computation hides", examples=[0.5])
    overlap_context: Overlap | None = Field(None, description="The same of the ring of keys and values", examples=[0.8])
    overlap_pipeline: Overlap | None = Field(None, description="The same of messages between stages", examples=[0.9])
    overlap_expert: Overlap | None = Field(None, description="The same of the exchange of tokens between experts", examples=[0.5])
    overlap_data: Overlap | None = Field(None, description="The same of gradients and weights, once a step", examples=[0.95])
    overlap_shards: Overlap | None = Field(None, description="The same of shards gathered in each pass (ZeRO 2 and 3, FSDP)", examples=[0.9])
    node_power: Watts | None = Field(None, description="What a node draws while it trains; else its typical or most power", examples=["8kW"])
    pue: float | None = Field(None, ge=1, le=3, description="Power of the hall over that of its machines; else what the cooling comes to", examples=[1.2])
    gpu_hour: float | None = Field(None, gt=0, le=1000, description="Price of a GPU for an hour; else that of the cloud machine type, where the catalog knows one", examples=[2.5])
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] | None = Field(None, description="Currency of the price (ISO 4217); USD by default", examples=["EUR"])
