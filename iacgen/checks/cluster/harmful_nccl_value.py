"""A value of NCCL that makes a cluster slow.

Why: such values come from a search for a fault on one machine and stay behind. They switch off what the cluster was bought for, and
everything still works, many times slower.

Bad::

    nccl:
      set: {NCCL_P2P_DISABLE: 1}
      reason: Helped once

Good: leave it out; find the fault with nccl-tests.

Source: nccl#1933 and nccl#2193; NCCL user guide 2.30, environment variables, which keeps these for debugging.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_readers import deaf
from ..rule import Found, rule
from ..subject import Subject

_OFF = {
    "NCCL_IB_DISABLE": "messages between nodes go over TCP",
    "NCCL_P2P_DISABLE": "GPUs of a node no longer use NVLink",
    "NCCL_SHM_DISABLE": "processes of a node talk over the network",
    "NCCL_PXN_DISABLE": "traffic between rails crosses the spines in place of NVLink",
    "NCCL_NVB_DISABLE": "GPUs no longer pass messages on over NVLink",
}
_PINNED = {"NCCL_ALGO": "algorithm", "NCCL_PROTO": "protocol"}
_LEAST_BUFFER = 4 << 20  # bytes, NCCL's default


@rule("IAC512", "harmful-nccl-value", "warning")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        if (harm := _harm(name, value)) and not deaf(subject, name):
            yield Found(f"with {name} {value} {harm}", ("nccl", "set", name))


def _harm(name: str, value: str) -> str | None:
    if name in _OFF:
        return _OFF[name] if value != "0" else None
    if name in _PINNED:
        return f"one {_PINNED[name]} serves messages of every size"
    if name == "NCCL_BUFFSIZE" and value.isdecimal() and int(value) < _LEAST_BUFFER:
        return "pipelines between GPUs run dry: the default is 4 MiB"
    if name == "NCCL_CUMEM_ENABLE" and value == "0":
        return "NVLink between machines (MNNVL) and registered buffers are off"
    return None
