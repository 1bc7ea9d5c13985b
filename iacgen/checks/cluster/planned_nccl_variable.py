"""A variable that follows from the fabrics.

Why: adapters and interfaces are in the catalog, in port order, and cables, host checks and NCCL must name the same. A second list of
them is right until the first machine is replaced.

Bad::

    nccl:
      set: {NCCL_IB_HCA: mlx5_0}

Good: give the machine's adapters in its catalog entry, and the name of a bond as ``interface`` of its fabric.

Source: nccl#1384, a prefix that took a storage adapter too; aws-parallelcluster's list of settings that a user may not override.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

PLANNED = {
    "NCCL_IB_HCA": ("adapters of the machine", "change its catalog entry"),
    "NCCL_SOCKET_IFNAME": ("interface of the network that ranks meet on", "name it by interface of that network, such as fabrics.mgmt.interface: bond0"),
    "GLOO_SOCKET_IFNAME": ("interface of the network that ranks meet on", "name it by interface of that network, such as fabrics.mgmt.interface: bond0"),
}


@rule("IAC520", "planned-nccl-variable")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if name in PLANNED:
            follows, help = PLANNED[name]
            yield Found(f"{name} follows from the {follows}", ("nccl", "set", name), help=help, on_key=True)
