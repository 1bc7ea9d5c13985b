"""A value that NCCL does not understand.

Why: NCCL takes a number that is none for 0, and one that begins with nought for octal, without a word: NCCL_NTHREADS=x, or
NCCL_IB_TIMEOUT=x, which is no timeout at all. A word that it does not know it passes over, in small letters too where it compares
letter by letter; at a protocol or an algorithm that it does not know every job ends.

Bad::

    nccl:
      set: {NCCL_DEBUG: verbose}

Good: ``NCCL_DEBUG: INFO``.

Source: NCCL user guide 2.30, environment variables, accepted values; misc/param.cc (strtoll with base 0) and graph/tuning.cc
("Unrecognized element token") of NCCL 2.30.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_readers import deaf
from ..nccl_values import wanted as wanted_for
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC521", "not-an-nccl-value")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        choices = wanted_for(name, value)
        if choices and not deaf(subject, name):
            yield Found(f"{value} is no value of {name}", ("nccl", "set", name), help=f"write {choices}")
