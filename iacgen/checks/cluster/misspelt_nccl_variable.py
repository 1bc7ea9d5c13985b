"""A variable that NCCL does not read.

Why: NCCL says nothing about a name that it does not know. The setting is believed to be there, and slow or failing jobs are searched
elsewhere.

Bad::

    nccl:
      set: {NCCL_IB_TIMEOUTS: 22}

Good: ``NCCL_IB_TIMEOUT: 22``.

Source: the names in libnccl 2.32.3 and in the source of 2.30.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_names import DEAD, KNOWN, PYTORCH, plugin_of
from ..nearest import close
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC510", "misspelt-nccl-variable")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if name not in KNOWN and name not in DEAD and name not in PYTORCH and not plugin_of(name):
            yield Found(f"NCCL reads no {name}", ("nccl", "set", name), help=close(name, KNOWN), on_key=True)
