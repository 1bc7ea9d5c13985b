"""Congestion notifications with the mark of data.

Why: switches sort by the mark (DSCP). With one mark for both, notifications go into the class of the data, whatever priority they
are meant to have.

Bad::

    fabrics:
      compute: {technology: roce, qos: {dscp: 26, cnp_dscp: 26}}

Good: ``cnp_dscp: 48``.

Source: DCQCN (SIGCOMM 2015) and NVIDIA's RoCE configuration guides: data in priority 3 with flow control, notifications in priority 6 without.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint.fabrics import Qos
from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC528", "notifications-marked-as-data")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.blueprint.fabrics.items():
        if fabric.qos and fabric.qos.dscp == fabric.qos.cnp_dscp:
            field = "cnp_dscp" if fabric.qos.cnp_dscp != Qos().cnp_dscp else "dscp"
            yield Found(f"DSCP {fabric.qos.dscp} marks data and notifications", ("fabrics", name, "qos", field), (Related(("fabrics", name, "qos", "dscp" if field != "dscp" else "cnp_dscp"), "the other one"),))
