"""A variable that follows from the fabrics.

Why: adapters and interfaces are in the catalog, in port order, and cables, host checks and NCCL must name the same. A second list of
them is right until the first machine is replaced.

Bad::

    nccl:
      set: {NCCL_IB_HCA: mlx5_0}

Good: give the machine's adapters in its catalog entry.

Source: nccl#1384, a prefix that took a storage adapter too; aws-parallelcluster's list of settings that a user may not override.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

PLANNED = {"NCCL_IB_HCA": "adapters", "NCCL_SOCKET_IFNAME": "interfaces"}


@rule("IAC520", "planned-nccl-variable")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if name in PLANNED:
            yield Found(f"{name} follows from the {PLANNED[name]} of the machine", ("nccl", "set", name), help="change its catalog entry", on_key=True)
