"""A fixed GID index on RoCE.

Why: the index of the RoCE v2 entry follows from the addresses of a port, and differs between hosts, drivers and ports of one machine.
With a fixed one some hosts take RoCE v1 or an entry that routes nowhere, and the job hangs at its first collective. NCCL finds the
entry of each port itself since 2.21.

Bad::

    nccl:
      set: {NCCL_IB_GID_INDEX: 3}

Good: leave ``NCCL_IB_GID_INDEX`` out.

Source: nccl#769, #1333 and #1538, where 3 was set and 1, 4 or 7 was right.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC555", "fixed-gid-index", "warning")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    roce = any(fabric.technology == "roce" and fabric.purpose == "compute" for fabric in subject.design.fabrics.values())
    index = wanted.set.get("NCCL_IB_GID_INDEX", "-1") if wanted else "-1"
    if roce and index.isdecimal():
        yield Found(f"entry {index} on every port of every host", ("nccl", "set", "NCCL_IB_GID_INDEX"), help="leave it out: NCCL finds the entry of each port")
