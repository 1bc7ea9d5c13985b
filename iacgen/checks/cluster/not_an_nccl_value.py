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
    "NCCL_NTHREADS": r"64|128|256|512",
}
_RANGES = {
    "NCCL_BUFFSIZE": (1, 2**31 - 1),  # bytes, in an int
    "NCCL_IB_FIFO_TC": (-1, 255),  # a byte of the packet; -1 leaves it to NCCL
    "NCCL_IB_QPS_PER_CONNECTION": (1, 128),
    "NCCL_IB_SL": (-1, 15),  # four bits
    "NCCL_IB_TC": (-1, 255),
}
_NUMBER = r"-?[0-9]+|0x[0-9a-fA-F]+"


@rule("IAC521", "not-an-nccl-value")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        choices = _wanted(name, value)
        if choices and not deaf(subject, name):
            yield Found(f"{value} is no value of {name}", ("nccl", "set", name), help=f"write {choices}")


def _wanted(name: str, value: str) -> str | None:
    """What a variable takes, where ``value`` is nothing of it."""
    if name in _WORDS:
        pattern = _WORDS[name]
        listed = pattern.replace("|", ", ") if re.fullmatch(r"[A-Z0-9]{2,}(\|[A-Z0-9]+)*", pattern) else "a number in NCCL's range"
        return None if re.fullmatch(pattern, value, re.IGNORECASE) else listed
    if name in DEFAULTS and not re.fullmatch(_NUMBER, value, re.IGNORECASE):
        return "a number in NCCL's range"
    least, most = _RANGES.get(name, (None, None))
    if least is None or most is None or least <= int(value, 0 if "x" in value.lower() else 10) <= most:
        return None
    return f"a number from {least} to {most}"
