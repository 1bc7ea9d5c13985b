"""Several machines with EFA cards that are not used.

Why: without EFA, NCCL goes over TCP through one interface and the kernel: 100 Gb/s and high latency where the machine has 3,200.
Training over several such machines waits for the network most of the time.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4, efa: 0}

Good: leave ``efa`` out; for machines that work alone allow this finding, with the reason.

Source: aws-parallelcluster's validator EfaValidator, which warns of a type that supports EFA and does not use it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC549", "efa-off", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    for pool in subject.design.pools.values():
        has = pool.system.cloud.efa_interfaces if pool.system.cloud else 0
        if has and not pool.efa and pool.count > 1:
            carried = pool.system.nics["management"].gbps
            yield Found(f"{pool.count} machines talk over TCP at {carried} Gb/s; each has {has} EFA interfaces", ("nodes", pool.name, "efa"))
