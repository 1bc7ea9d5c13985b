"""NCCL's variables on a cluster without GPUs.

Why: nothing reads them, and no file is written for them.

Bad::

    nodes:
      ctl: {site: hall, system: generic-1u, count: 2}
    nccl:
      set: {NCCL_IB_TIMEOUT: 22}

Good: leave the section out.

Source: NCCL runs on GPUs alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC522", "nccl-without-gpus", "warning")
def check(subject: Subject) -> Iterator[Found]:
    if subject.blueprint.nccl and not subject.design.gpus:
        yield Found("no machine of this cluster has a GPU", ("nccl",), on_key=True)
