"""A lossless class on a fabric that has none.

Why: InfiniBand is lossless by itself, and plain Ethernet of a management network carries no RDMA. The section does nothing.

Bad::

    fabrics:
      compute: {technology: infiniband, qos: {dscp: 26}}

Good: leave ``qos`` out, or ``technology: roce``.

Source: InfiniBand's credit-based flow control; RoCE needs IEEE 802.1Qbb.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC530", "qos-without-roce")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.blueprint.fabrics.items():
        if fabric.qos and fabric.technology != "roce":
            yield Found(f"{fabric.technology} has no lossless class to choose", ("fabrics", name, "qos"), on_key=True)
