"""A value that NCCL does not understand.

Why: NCCL takes what it cannot read for its default, mostly without a word.

Bad::

    nccl:
      set: {NCCL_DEBUG: verbose}

Good: ``NCCL_DEBUG: INFO``.

Source: NCCL user guide 2.30, environment variables, accepted values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..nccl_names import DEFAULTS
from ..nccl_readers import deaf
from ..rule import Found, rule
from ..subject import Subject

_WORDS = {
    "NCCL_DEBUG": r"VERSION|WARN|INFO|ABORT|TRACE",
    "NCCL_NET_GDR_LEVEL": r"LOC|PIX|PXB|P2C|PXN|PHB|SYS",  # integers are taken, and discouraged: their meaning has changed
    "NCCL_P2P_LEVEL": r"LOC|NVL|C2C|PIX|PXB|P2C|PXN|PHB|SYS",
    "NCCL_SOCKET_FAMILY": r"AF_INET6?",
    "NCCL_IB_ADDR_FAMILY": r"AF_INET6?",
    "NCCL_CROSS_NIC": r"[012]",
    "NCCL_IB_TIMEOUT": r"[1-9]|[12][0-9]|3[01]",
    "NCCL_IB_RETRY_CNT": r"[0-7]",
}
_NUMBER = r"-?[0-9]+|0x[0-9a-fA-F]+"


@rule("IAC521", "not-an-nccl-value")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        pattern = _WORDS.get(name) or (_NUMBER if name in DEFAULTS else None)
        if pattern and not re.fullmatch(pattern, value, re.IGNORECASE) and not deaf(subject, name):
            choices = pattern.replace("|", ", ") if pattern[0].isalpha() and name in _WORDS else "a number in NCCL's range"
            yield Found(f"{value} is no value of {name}", ("nccl", "set", name), help=f"write {choices}")
