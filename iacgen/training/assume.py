"""What the time of a step rests on besides data sheets. Each figure is printed with its source, and a blueprint may state another.

Two kinds: shares that belong to a GPU type and stand in the catalog beside the runs that they were fitted on, and shares that
hold for all. Of the second kind ``misaligned`` was fitted together with the first (``catalog.gpus.Efficiency``).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iacgen.catalog import Gpu


@dataclass(frozen=True)
class Assumptions:
    """Shares are of the rate on the data sheet, overlaps of the time that computation hides. None: the catalog's figure."""

    matmul: float | None = None
    attention: float | None = None
    unfused: float | None = None
    hbm: float = 0.8
    misaligned: float = 0.61
    nvlink: float = 0.78
    network: float = 0.85
    pcie_gbytes_per_s: float = 25.0
    host_gbytes_per_s: float = 200.0
    nvme_gbytes_per_s: float = 10.0
    overlap_tensor: float = 0.0
    overlap_context: float = 0.5
    overlap_pipeline: float = 0.7
    overlap_expert: float = 0.0
    overlap_data: float = 0.9
    overlap_shards: float = 0.7

    def of(self, gpu: Gpu) -> Assumptions:
        """With the GPU's own shares where nobody stated others."""
        known = achievable(gpu)
        return replace(self, **{name: share for name, share in known.items() if getattr(self, name) is None})

    @property
    def stated(self) -> frozenset[str]:
        """Those that differ from what is assumed."""
        return frozenset(f.name for f in fields(self) if getattr(self, f.name) != f.default)


DERATED = 0.9
"""Matrices of a whole step against the best measured ones, on H100: the fitted share over the best measured, 0.73 / 0.80. It stands in
for GPU types of which no training run is in the cases."""

UNMEASURED = {"matmul": 0.60, "attention": 0.19, "unfused": 0.43}
"""For types of which no training run is in the cases: the lower of the catalog's shares; matrices where nobody measured products either."""


def achievable(gpu: Gpu) -> dict[str, float]:
    """The GPU type's own shares of its dense bf16 peak and of its memory's rate."""
    known = gpu.efficiency
    if known:
        return {"matmul": known.matmul, "attention": known.attention, "unfused": known.unfused}
    best = gpu.best_gemm_tflops
    return UNMEASURED | ({"matmul": DERATED * best / gpu.bf16_tflops} if best else {})


def origin(gpu: Gpu, name: str) -> str | None:
    """Where a share comes from where it is not the one in ``MEANING``: for types of which no training run is in the cases, and for links that
    are not NVLink. None where it is."""
    if name in UNMEASURED and gpu.efficiency is None:
        if name == "matmul" and gpu.best_gemm_tflops:
            return "the best product measured on it less 10 %, as on H100; no training run of it was at hand"
        return "no training run of it was at hand: the lowest that the catalog has of any type, so an estimate on the safe side"
    if name == "nvlink" and gpu.vendor != "NVIDIA":
        torus = ", and a ring takes the links of one axis of the torus" if gpu.slurm_type == "tpu" else ""
        return f"assumed: taken over from NVLink for this chip's own links{torus}"
    return None


MEANING = {
    "matmul": ("share of the dense bf16 peak that large matrices reach", "catalog: fitted on published runs, or measured products less 10 %"),
    "attention": ("share of the dense bf16 peak that flash attention reaches, by the operations of its causal half", "catalog: fitted on published runs"),
    "unfused": ("share of the memory's rate that PyTorch's kernels reach between the matrix products (DeepSpeed, FSDP)", "catalog: fitted on published runs"),
    "hbm": ("share of the memory's rate for fused kernels (Megatron), for operands and for the optimizer", "assumed; copies and STREAM reach 0.85 to 0.92"),
    "misaligned": ("rate of a matrix product whose sides are no multiples of 64", "fitted on published runs; NVIDIA's Matrix Multiplication Background User's Guide asks for multiples of 128 bytes"),
    "nvlink": ("share of NVLink's rate that collectives reach", "NCCL 2.8 to 2.16, graph/tuning.cc: at most 235 of 300 GB/s on A100; 231 and 233 measured (NVIDIA/nccl#527, NVIDIA/nccl-tests#175)"),
    "network": ("share of its adapters' rate that a node reaches", "as the placement assumes between leaves, after arXiv:2509.15940"),
    "pcie_gbytes_per_s": ("what a GPU moves to and from host memory, and to other GPUs without NVLink, 10^9 bytes a second", "assumed; PCIe 4.0 x16 carries 32"),
    "host_gbytes_per_s": ("host memory that the optimizer of a node moves, 10^9 bytes a second", "assumed; two sockets with eight channels of DDR5-4800 each carry 614"),
    "nvme_gbytes_per_s": ("what the NVMe of a node moves, 10^9 bytes a second", "assumed; one or two drives"),
    "overlap_tensor": ("part of tensor-parallel communication that is hidden", "assumed: none, as in arXiv:2205.05198"),
    "overlap_context": ("part of the key-value ring that attention hides", "as the placement assumes"),
    "overlap_pipeline": ("part of the messages between stages that other micro batches hide", "as the placement assumes"),
    "overlap_expert": ("part of the expert all-to-all that is hidden", "as the placement assumes: it stands between two layers"),
    "overlap_data": ("part of the exchange of gradients and weights that fits under the backward and forward pass and is hidden there", "assumed: the last bucket stays"),
    "overlap_shards": ("part of gathering and scattering shards (ZeRO 3, FSDP) that fits under computation and is hidden there", "assumed"),
}
"""Name → what it is, and where its value comes from."""
