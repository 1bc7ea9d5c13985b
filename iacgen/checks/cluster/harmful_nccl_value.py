"""A value of NCCL that makes this cluster slow, or stops its jobs.

Why: such values come from a search for a fault on one machine and stay behind. They switch off what the cluster was bought for, and
everything still works, many times slower. What is harmful depends on the fabric and the machines: ``NCCL_CROSS_NIC: 0`` is right where
nothing joins the rails, ``NCCL_IB_DISABLE: 1`` where no adapter speaks RDMA, a list of several algorithms leaves NCCL its choice.

Bad::

    nccl:
      set: {NCCL_P2P_DISABLE: 1}
      reason: Helped once

Good: leave it out; find the fault with nccl-tests. Where a fault that is known needs it for a time, allow this finding with the reason
and what will make it go.

Source: nccl#1933 and nccl#2193; NCCL user guide 2.30, environment variables, which keeps these for debugging.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_harm import harm
from ..nccl_readers import deaf
from ..nccl_values import wanted as misread
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC512", "harmful-nccl-value", allowable=True)
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        if not misread(name, value) and not deaf(subject, name) and (told := harm(subject, name, value)):
            yield Found(f"with {name} {value} {told}", ("nccl", "set", name), help="leave it out, or allow this finding with the fault that needs it")
