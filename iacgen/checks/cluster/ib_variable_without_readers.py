"""A variable of InfiniBand or RoCE that nothing on this cluster reads.

Why: the GID index, what NCCL chooses it by, and the traffic classes are read on RoCE only, and none of NCCL_IB_* where the GPUs talk
over plain Ethernet or EFA. Whoever set it expects an effect.

Bad::

    fabrics:
      compute: {technology: infiniband}
    nccl:
      set: {NCCL_IB_GID_INDEX: 3}

Good: leave it out; the subnet manager chooses the path, and the class of a message on InfiniBand is its service level, NCCL_IB_SL.

Source: transport/net_ib of NCCL 2.30.7: the GID index is chosen, and the traffic class set, in the RoCE branch alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_readers import deaf
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC515", "ib-variable-without-readers")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if silent := deaf(subject, name):
            yield Found(f"{name} is not read by GPU hosts whose compute network is {' or '.join(sorted(silent))}", ("nccl", "set", name), on_key=True)
