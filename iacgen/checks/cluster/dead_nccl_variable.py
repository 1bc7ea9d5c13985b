"""A variable that NCCL no longer reads.

Why: many recipes still carry it. NCCL passes over it in silence, so what it once did no longer happens.

Bad::

    nccl:
      set: {NCCL_IB_CUDA_SUPPORT: 1}

Good: leave it out; NCCL finds out whether adapters reach GPU memory.

Source: NCCL user guide 2.30, environment variables; the name is not among the strings of libnccl 2.32.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_names import DEAD, KNOWN
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC511", "dead-nccl-variable")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if name in DEAD and name not in KNOWN:
            yield Found(f"NCCL no longer reads {name}", ("nccl", "set", name), help=f"in its place: {DEAD[name]}", on_key=True)
