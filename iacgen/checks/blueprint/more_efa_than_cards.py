"""More EFA interfaces than the machine type has.

Why: an EFA interface takes a network card of its own. The provider takes any number in validate and plan; the launch is refused when
the network and the file system are there already. A type without EFA has none to give.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4, efa: 33}

Good: ``efa: 32``, or leave it out: then a machine gets all that its type has.

Source: Amazon EC2 User Guide, EFA accelerated instance types; hashicorp/aws 5.100.0 plans 40 interfaces on a p4d.24xlarge without a
word (measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC291", "more-efa-than-cards")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        cloud = catalog.system(pool.system).cloud
        if cloud and pool.efa is not None and pool.efa > cloud.efa_interfaces:
            has = f"has {cloud.efa_interfaces}" if cloud.efa_interfaces else "has no EFA"
            yield Found(f"{pool.system} {has}", ("nodes", name, "efa"), help=f"write {cloud.efa_interfaces} or less" if cloud.efa_interfaces else "leave it out")
