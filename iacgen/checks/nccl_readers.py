"""Who reads NCCL's variables of InfiniBand on a cluster."""

from __future__ import annotations

from .subject import Subject

_ROCE = {f"NCCL_IB_{word}" for word in ("GID_INDEX", "TC", "FIFO_TC", "ROCE_VERSION_NUM", "ADDR_FAMILY", "ADDR_RANGE")}
"""Read on RoCE alone: InfiniBand finds its way by LID, and its messages have a service level in place of a traffic class."""


def deaf(subject: Subject, name: str) -> set[str]:
    """Compute networks of GPU hosts on which a variable is not read; empty where all read it, or where no host has GPUs."""
    if not name.startswith("NCCL_IB_"):
        return set()
    if name == "NCCL_IB_DISABLE" and not any(fabric.technology == "efa" for fabric in subject.design.fabrics.values()):
        return set()  # read before NCCL looks for adapters, and there may be some that nothing is lossless for
    design = subject.design
    pools = [pool.name for pool in design.pools.values() if pool.gpu]
    spoken = {fabric.technology if (fabric := design.fabric_of(pool, "compute")) else "nothing" for pool in pools}
    return spoken - ({"roce"} if name in _ROCE else {"infiniband", "roce"})
