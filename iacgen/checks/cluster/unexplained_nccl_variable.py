"""A variable for debugging or without documentation, and no word why.

Why: NCCL's guide tells to keep these out of production. Where one is needed all the same, the next reader must know for which fault,
so that it can go when the fault is gone.

Bad::

    nccl:
      set: {NCCL_IB_SPLIT_DATA_ON_QPS: 1}

Good::

    nccl:
      set: {NCCL_IB_SPLIT_DATA_ON_QPS: 1}
      reason: The switches spread flows badly, firmware 31.2014

Source: NCCL user guide 2.30, environment variables, section for debugging.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_harm import harm
from ..nccl_names import DEBUGGING, UNDOCUMENTED
from ..nccl_readers import deaf
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC513", "unexplained-nccl-variable", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted and not wanted.reason else ():
        if (name in DEBUGGING or name in UNDOCUMENTED) and not deaf(subject, name) and not harm(subject, name, value):
            what = "for debugging" if name in DEBUGGING else "not documented"
            yield Found(f"{name} is {what}, and nothing says why it is set", ("nccl", "set", name), help="add nccl.reason", on_key=True)
