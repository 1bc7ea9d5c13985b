"""A variable of NCCL that the EFA plug-in sets itself, or that means nothing beside it.

Why: aws-ofi-nccl knows the machine type and sets buffer sizes, chunk sizes, the policy of adapters and its tuner, but leaves alone what
is set already. A value that was right for another type, or for sockets, then stays. Threads of sockets do nothing: EFA has none.

Bad::

    nccl:
      set: {NCCL_P2P_NET_CHUNKSIZE: 131072}
      reason: Helped on another cluster

Good: leave it out on machines with EFA.

Source: aws-ofi-nccl, doc/efa-env-var.md and platform-aws.cpp; awsome-distributed-training's EFA cheat sheet.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_names import EFA_PLUGIN, SOCKETS
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC554", "set-by-efa-plugin", "warning")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    if wanted and any(fabric.technology == "efa" for fabric in subject.design.fabrics.values()):
        for name in wanted.set:
            if name in EFA_PLUGIN:
                yield Found(f"the EFA plug-in sets {name} for the machine type, unless it is set", ("nccl", "set", name))
            elif name in SOCKETS:
                yield Found(f"{name} is of sockets; EFA has none", ("nccl", "set", name))
