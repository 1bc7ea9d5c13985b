"""Congestion notifications in the class that they are to relieve.

Why: a notification tells a sender to slow down. In the lossless class it waits behind the very traffic that is paused, comes too
late, and pauses spread through the fabric.

Bad::

    fabrics:
      compute: {technology: roce, qos: {priority: 3, cnp_priority: 3}}

Good: ``cnp_priority: 6``.

Source: DCQCN (SIGCOMM 2015) and NVIDIA's RoCE configuration guides: data in priority 3 with flow control, notifications in priority 6 without.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint.fabrics import Qos
from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC527", "notifications-in-lossless-class")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.blueprint.fabrics.items():
        if fabric.qos and fabric.qos.priority == fabric.qos.cnp_priority:
            field = "cnp_priority" if fabric.qos.cnp_priority != Qos().cnp_priority else "priority"
            yield Found(f"priority {fabric.qos.priority} carries data and notifications", ("fabrics", name, "qos", field), (Related(("fabrics", name, "qos", "priority" if field != "priority" else "cnp_priority"), "the other one"),))
