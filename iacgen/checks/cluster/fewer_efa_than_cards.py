"""Fewer EFA interfaces than the machine type has.

Why: each interface carries its part of the machine's bandwidth, 100 Gb/s of a p5.48xlarge's 3,200. Half of them is half the network,
for the same price; NCCL gives no sign but a slower all-reduce.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4, efa: 8}

Good: leave ``efa`` out.

Source: aws-efa-nccl-baseami-pipeline#1 and dstack PR#2271, one of 4 or 32 interfaces in use.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC548", "fewer-efa-than-cards", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    for pool in subject.design.pools.values():
        has = pool.system.cloud.efa_interfaces if pool.system.cloud else 0
        if 0 < pool.efa < has and pool.count > 1:
            carried = pool.system.cloud.network_gbps * pool.efa / has
            yield Found(f"{pool.efa} of {has} EFA interfaces: {carried:,.0f} of {pool.system.cloud.network_gbps:,.0f} Gb/s", ("nodes", pool.name, "efa"))
