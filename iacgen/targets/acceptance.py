"""An acceptance job of nccl-tests for each pool of GPUs: bus bandwidth that this fabric should reach, and a job that fails below it.

The figure of ``all_reduce_perf`` is the slower of two links, both in one direction: the adapters of an NVLink domain together, and
NVLink of one GPU, PCIe where it has none (nccl-tests, doc/PERFORMANCE.md: the bus bandwidth of a ring is that of its slowest link). That of ``alltoall_perf`` is
one adapter's, since an exchange does not gather adapters (NVIDIA/nccl-tests#267), spread over the peers that it reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

from iacgen.render import render as render_template

if TYPE_CHECKING:
    from iacgen.design.fabric.model import Fabric
    from iacgen.design.model import Design, Pool
    from iacgen.placement.project import Project

RDMA_SHARE = 46 / 50
"""Of an adapter's rate: 46 to 48 GB/s of an NDR port's 50 (NVIDIA/nccl-tests#290), 12.2 of 12.5 at 100G (NVIDIA/nccl-tests#29)."""
EFA_SHARE = 0.78
"""Unverified: assumed, as the placement does for the top tier of a network. What AWS publishes is of two machines, between which NCCL's
trees count some links twice: 466 GB/s at 4 GiB on p5.48xlarge, whose adapters carry 400, and 78 on p4de.24xlarge, whose carry 50
(aws-samples/awsome-distributed-training, micro-benchmarks/nccl-tests). For more machines none
was found."""
NVLINK_SHARE = 230 / 300
"""Of NVLink's rate in one direction: eight A100 reached 230.8 (NVIDIA/nccl#527) and 232.5 GB/s (NVIDIA/nccl-tests#175), an H100 370 of 450
(NVIDIA/nccl-tests#212). The 235 that NCCL 2.8 to 2.16 counted on (graph/tuning.cc) would refuse them."""
PCIE_GBYTES_PER_S = 22 * 5 / 6
"""Of nodes without NVLink: NCCL counts on 22 GB/s between two sockets of Sapphire Rapids, of which messages between GPUs take 6/5
(graph/topo.h, SRP_QPI_BW and INTEL_P2P_OVERHEAD). Three A100 of which PCIe joined two reached 20 (NVIDIA/nccl-tests#178)."""
CROSSING_SHARE = 0.83
"""Of an exchange that leaves the leaf switches of a unit: collectives lost up to 17 % across pods (arXiv:2509.15940)."""
BYTES = "4G"


@dataclass(frozen=True)
class Threshold:
    """Least bus bandwidth in GB/s (10^9 bytes a second) as nccl-tests prints it, and how it comes about."""

    program: str
    least: int
    why: str


def render(project: Project) -> dict[str, str]:
    """``nccl/acceptance-<pool>.sbatch`` for each GPU pool of several hosts on a compute fabric that a queue of Slurm holds."""
    design, tree = project.design, {}
    for pool in design.pools.values():
        fabric = design.fabric_of(pool.name, "compute")
        hosts = tuple(host for host in pool.hosts if host not in pool.down)
        queues = [p for p in design.scheduler.partitions if pool.name in p.pools] if design.scheduler else []
        if not (pool.gpu and fabric and queues and len(hosts) > 1):
            continue
        tree[f"nccl/acceptance-{pool.name}.sbatch"] = render_template(
            "nccl/acceptance.sbatch.j2",
            pool=pool.name,
            partition=min(queues, key=lambda p: (not p.default, p.name)).name,
            nodes=len(hosts),
            gpus=pool.system.gpus,
            cpus=pool.system.cpus // pool.system.gpus,
            size=BYTES,
            thresholds=thresholds(design, pool, fabric, len(hosts)),
        )
    return tree


def thresholds(design: Design, pool: Pool, fabric: Fabric, hosts: int) -> tuple[Threshold, Threshold]:
    """For an all-reduce and an all-to-all over all GPUs of ``hosts`` hosts."""
    nic, gpus = fabric.nics[pool.name], pool.system.gpus
    share = EFA_SHARE if fabric.technology == "efa" else RDMA_SHARE
    port = fabric.link_gbps[pool.name] / 8 * share
    near = min(pool.system.nvlink_domain_servers, hosts)
    inside, nvlink = _inside(pool)
    if near == hosts:
        return tuple(Threshold(name, floor(nvlink), f"{inside}: all GPUs are in one NVLink domain") for name in ("all_reduce_perf", "alltoall_perf"))  # type: ignore[return-value]
    adapters = near * nic.count * port
    words = f"{_adapters(near * nic.count)} x {fabric.link_gbps[pool.name]} Gb/s / 8 x {share:.2f}"
    ring = f"the lesser of {words} = {adapters:.0f} and {inside} = {nvlink:.0f}"
    ranks, far = hosts * gpus, (hosts - near) * gpus
    crossing = CROSSING_SHARE if len(fabric.groups) > 1 else 1.0
    exchange = port * nic.count / gpus * (ranks - 1) / far * crossing
    spread = f"{_adapters(nic.count / gpus)} a GPU x {fabric.link_gbps[pool.name]} Gb/s / 8 x {share:.2f} x {ranks - 1} peers / {far} of them across the network"
    return (
        Threshold("all_reduce_perf", floor(min(adapters, nvlink)), ring),
        Threshold("alltoall_perf", floor(min(exchange, nvlink)), spread + (f" x {crossing} between leaf switches" if crossing < 1 else "")),
    )


def _adapters(count: float) -> str:
    """So many of them; half of one is still one adapter, which two GPUs share."""
    return f"{count:g} adapter{'s' if count > 1 else ''}"


def _inside(pool: Pool) -> tuple[str, float]:
    """What a GPU moves to its neighbour in the node, in words and in GB/s."""
    assert pool.gpu  # render measures no other pool
    if pool.system.nvlink_domain_gpus < 2:
        return "22 GB/s of PCIe between sockets x 5/6", PCIE_GBYTES_PER_S
    return f"NVLink {pool.gpu.nvlink_gbytes_per_s / 2:g} GB/s x {NVLINK_SHARE:.2f}", pool.gpu.nvlink_gbytes_per_s / 2 * NVLINK_SHARE
