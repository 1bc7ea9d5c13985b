"""Seconds of collectives over NVLink and over the network, one ring or exchange at a time, nothing hidden.

A ring over k ranks moves (k - 1)/k of a buffer over each of its edges for a reduce-scatter or an all-gather; a step of the ring
takes a latency of its own. Ranks are dealt out in Megatron's order (tensor fastest, then context, data, pipeline), so a family is
known by its size and by the distance between two of its members.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from iacgen.training.groups import expert_stride

if TYPE_CHECKING:
    from iacgen.training.spec import JobSpec

LAUNCH_S, NVLINK_HOP_S, PCIE_HOP_S, NETWORK_HOP_S = 8.4e-6, 3.4e-6, 5.7e-6, 9.6e-6
"""Latencies of NCCL's ring with the simple protocol: once, and for each hop (NVIDIA/nccl, src/graph/tuning.cc, baseLat and
hwLat, 2.7 to 2.16 but for 2.12; since 2.18 a hop of the network counts 14)."""


@dataclass(frozen=True)
class Links:
    """What a GPU and a node move in one direction, bytes a second, under the assumptions. ``domain`` is how many GPUs NVLink joins, ``node``
    how many share one node's adapters; ``network`` is 0 where nothing connects the nodes: what has to cross it takes for ever. Of nodes
    without NVLink ``nvlink`` and ``domain`` are those of PCIe, and so is ``hop``, the latency from one GPU to the next."""

    nvlink: float
    network: float
    domain: int
    node: int
    hop: float = NVLINK_HOP_S

    def members(self, size: int, apart: int) -> int:
        """Members of one group that NVLink joins."""
        return max(1, min(size, self.domain // apart))

    def inside(self, size: int, apart: int) -> bool:
        """Whether NVLink joins a whole group, ``apart`` ranks from one member to the next."""
        return size * apart <= self.domain

    def rate(self, size: int, apart: int) -> float:
        """Bytes a second over each edge of a ring. Groups whose members share a node also share its adapters with fewer others."""
        if self.inside(size, apart):
            return self.nvlink
        return min(self.nvlink, self.network * self.members(size, apart) / self.node)

    def latency(self, size: int, apart: int) -> float:
        """Seconds until a ring has gone round once."""
        across = 0 if self.inside(size, apart) else size // self.members(size, apart) - 1
        return LAUNCH_S + across * NETWORK_HOP_S + (size - 1 - across) * self.hop

    def ring_s(self, buffer: float, size: int, apart: int, times: int = 1) -> float:
        """``times`` reduce-scatters or all-gathers that move ``buffer`` bytes together; twice for an all-reduce."""
        if size == 1:
            return 0.0
        return over(buffer * (size - 1) / size, self.rate(size, apart)) + times * self.latency(size, apart)

    def exchange_s(self, sent: float, size: int, apart: int) -> float:
        """All-to-all: each GPU sends ``sent`` bytes, in equal parts to all members, itself included."""
        if size == 1:
            return 0.0
        near = self.members(size, apart)
        far = over(sent * (size - near) / size, self.network / self.node)
        return max(over(sent * (near - 1) / size, self.nvlink), far) + self.latency(2, apart)

    def message_s(self, size: float, apart: int) -> float:
        """One GPU to the one ``apart`` ranks on, when all of its node do the same."""
        return over(size, self.nvlink if apart < self.domain else self.network / self.node)


def over(sent: float, rate: float) -> float:
    """Seconds for ``sent`` bytes; for ever where nothing carries them."""
    return 0.0 if not sent else sent / rate if rate else inf


def links(spec: JobSpec) -> Links:
    """The job's links under its assumptions."""
    near = spec.gpu.nvlink_gbytes_per_s / 2 * spec.assume.nvlink if spec.has_nvlink else spec.assume.pcie_gbytes_per_s
    return Links(
        nvlink=near * 1e9,
        network=(spec.node_bytes_per_s or 0.0) * spec.assume.network,
        domain=spec.nvlink_domain,
        node=spec.gpus_per_node,
        hop=NVLINK_HOP_S if spec.has_nvlink else PCIE_HOP_S,
    )


def node_rates(spec: JobSpec) -> dict[str, float]:
    """Family → bytes a second that the time of a step assumes of one node, in the terms of ``Traffic``; none where NVLink ends at the node,
    and each is that of its adapters."""
    of = links(spec)
    if of.domain <= of.node:
        return {}
    nvlink, stride = of.nvlink * of.node, expert_stride(spec)

    def ring(size: int, apart: int) -> float:
        if of.inside(size, apart):
            return nvlink
        return min(nvlink, of.network * of.members(size, apart) / max(1, of.node // apart))

    near, here = of.members(spec.expert, stride), of.node // stride
    return {
        "data": ring(spec.data_parallel * spec.context, spec.tensor),
        "context": ring(spec.context, spec.tensor),
        "pipeline": nvlink if spec.tensor * spec.context * spec.data_parallel < of.domain else of.network,
        "expert": nvlink if near >= spec.expert else of.network * (spec.expert - here) / (spec.expert - near),
    }
