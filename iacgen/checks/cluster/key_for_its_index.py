"""A partition key where NCCL wants its index.

Why: NCCL_IB_PKEY is the place of the key in the port's table, not the key. Nothing stands at place 32,769: every queue pair fails to
come up, and NCCL says so only as an error of the verbs library.

Bad::

    nccl:
      set: {NCCL_IB_PKEY: 32769}
      reason: The tenant's partition

Good: the index, the same on all hosts, as ``NCCL_IB_PKEY: 1``; or ``indx0`` in the subnet manager's partition file and no variable.

Source: nccl#1323; a port of a ConnectX adapter has a table of 128 keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_readers import deaf
from ..rule import Found, rule
from ..subject import Subject

_KEYS = 128  # in the table of a port


@rule("IAC556", "key-for-its-index")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    value = wanted.set.get("NCCL_IB_PKEY", "0") if wanted else "0"
    hexadecimal = value.lower().startswith("0x")
    if (hexadecimal or not value.isdecimal() or int(value) >= _KEYS) and not deaf(subject, "NCCL_IB_PKEY"):
        yield Found(f"{value} is no place in a table of {_KEYS} keys", ("nccl", "set", "NCCL_IB_PKEY"), help="write the index of the key in the port's table")
