"""Constants of the cost model that no data sheet gives. They are assumptions, and the report prints them as such."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from iacgen.training.plan import Job

from .model import FAMILIES, Family

NIC_SHARE_BY_TIER = (0.95, 0.85, 0.78)
"""Share of its adapters' rate that a node reaches when both ends share a leaf group, the next tier, the top tier.

Assumed. The fall from the first to the last, 18 %, follows the up to 17 % that collectives lost when they crossed pods in
measurements of Arnold (arXiv:2509.15940); equal-cost paths that collide are the cause.
"""

EXPOSED: Mapping[Family, float] = MappingProxyType({"dp": 0.4, "pp": 0.3, "cp": 0.5, "ep": 1.0, "fs": 0.4})
"""Weight of each family's time in the communication cost: roughly the share that computation does not hide, the same for all jobs. The time of a
step has overlaps of its own (`training.assume`, `training.step`). Assumed: gradients overlap the backward pass, pipeline messages
the other micro batches, context exchange the attention blocks; an expert all-to-all stands between two layers and hides
behind nothing. Inside shard groups as among all copies: FSDP gathers and reduces beside the layers before and behind."""


def sentences(families: Collection[Family] = (), jobs: Iterable[Job] = ()) -> tuple[str, ...]:
    """The assumptions in words, for a report; what few jobs have only where it is among the ``families``, or NVLink joins hosts of one of the ``jobs``."""
    rates = ", ".join(f"{share:.0%}" for share in NIC_SHARE_BY_TIER)
    parts = ", ".join(f"{FAMILIES[family]} {share:g}" for family, share in EXPOSED.items() if family != "fs" or "fs" in families)
    racks = any(job.spec.nvlink_domain > job.spec.gpus_per_node for job in jobs)
    joined = ("A ring that leaves an NVLink domain of several hosts shares the adapters of all its members there, as the GPUs of a host do (assumed).",) if racks else ()
    return (
        f"A node reaches {rates} of its adapters' rate when both ends share a leaf group, the next tier, the top tier (assumed, after arXiv:2509.15940).",
        f"Communication cost weighs the kinds of traffic by about the part that computation does not hide: {parts} (assumed); the time of a step has overlaps of its own.",
        *joined,
        "Communication cost counts bandwidth only: no latency, one job at a time, rings for reductions. It compares orders, and is no part of the step time.",
    )
