"""A variable of InfiniBand or RoCE that nothing on this cluster reads.

Why: NCCL_IB_GID_INDEX is read on RoCE only, and none of NCCL_IB_* where the GPUs talk over plain Ethernet or EFA. Whoever set it
expects an effect.

Bad::

    fabrics:
      compute: {technology: infiniband}
    nccl:
      set: {NCCL_IB_GID_INDEX: 3}

Good: leave it out; the subnet manager chooses the path.

Source: transport/net_ib of NCCL 2.30.7: the GID index is taken from the RoCE branch alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC515", "ib-variable-without-readers")
def check(subject: Subject) -> Iterator[Found]:
    wanted, design = subject.blueprint.nccl, subject.design
    pools = [pool.name for pool in design.pools.values() if pool.gpu]
    spoken = {fabric.technology if (fabric := design.fabric_of(pool, "compute")) else "nothing" for pool in pools}
    for name in wanted.set if wanted and pools else ():
        readers = {"roce"} if name == "NCCL_IB_GID_INDEX" else {"infiniband", "roce"}
        if name.startswith("NCCL_IB_") and (deaf := spoken - readers):
            yield Found(f"{name} is not read by GPU hosts whose compute network is {' or '.join(sorted(deaf))}", ("nccl", "set", name), on_key=True)
