"""The lossless class is the one that unmarked traffic falls into.

Why: everything that nobody marks, from SSH to a copy of files, has DSCP 0 and priority 0. In the lossless class it takes buffers from
RDMA, and one slow receiver pauses all.

Bad::

    fabrics:
      compute: {technology: roce, qos: {dscp: 0, priority: 0}}

Good: ``dscp: 26, priority: 3``, the defaults.

Source: RFC 2474, default forwarding; DCQCN (SIGCOMM 2015) and NVIDIA's RoCE configuration guides: data in priority 3 with flow control, notifications in priority 6 without.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC529", "lossless-by-default", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.blueprint.fabrics.items():
        for field in ("dscp", "priority"):
            if fabric.qos and getattr(fabric.qos, field) == 0:
                yield Found(f"{field} 0 is that of unmarked traffic", ("fabrics", name, "qos", field))
