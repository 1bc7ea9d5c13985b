"""A traffic class of NCCL outside the lossless class of the fabric.

Why: switches keep one class free of loss. Traffic of another class is dropped under load, and RoCE then falls to a fraction of its
rate.

Bad::

    fabrics:
      compute: {technology: roce, qos: {dscp: 26}}
    nccl:
      set: {NCCL_IB_TC: 160}

Good: leave it out: iacgen writes DSCP 26 x 4 + 2 = 106.

Source: NCCL user guide 2.30, environment variables, NCCL_IB_TC; nccl PR#1194.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC516", "nccl-off-lossless-class")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    value = wanted.set.get("NCCL_IB_TC") if wanted else None
    for fabric in subject.design.fabrics.values() if value else ():
        if fabric.purpose == "compute" and fabric.qos and not (value.isdecimal() and int(value) >> 2 == fabric.qos.dscp):
            message = f"traffic class {value} is not DSCP {fabric.qos.dscp}, the lossless class of {fabric.name}"
            yield Found(message, ("nccl", "set", "NCCL_IB_TC"), (Related(("fabrics", fabric.name, "qos"), "the class of the fabric"),), help=f"leave it out: {fabric.qos.traffic_class} is written")
