"""Two fabrics of one cluster that share addresses.

Why: a host on both would have two interfaces on one network, and answer on the wrong one. Two fabrics of one purpose both take
the default network of that purpose, so the second must say its own.

Bad::

    fabrics:
      front: {site: hall, purpose: management, connects: [gpu], technology: ethernet, switch: sn2201}
      back: {site: hall, purpose: management, connects: [ctl], technology: ethernet, switch: sn2201}

Good: ``subnet: 172.16.0.0/12`` on one of them.

Source: openstack-ansible's inventory generator refuses overlapping networks and one address for two hosts.
"""

from __future__ import annotations

from collections.abc import Iterator

import ipaddress

from ...blueprint import Blueprint
from ...design.fabric.build import SUBNETS
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC217", "overlapping-subnets")
def check(blueprint: Blueprint) -> Iterator[Found]:
    seen: list[tuple[str, ipaddress.IPv4Network]] = []
    for name, fabric in blueprint.fabrics.items():
        network = ipaddress.IPv4Network(fabric.subnet or SUBNETS[fabric.purpose])
        for other, theirs in seen:
            there = blueprint.fabrics[other]
            if there.purpose == fabric.purpose and set(there.connects) & set(fabric.connects):
                continue  # one of the two is too many, which is told by itself
            if network.overlaps(theirs):
                path = ("fabrics", name, "subnet") if fabric.subnet else ("fabrics", name)
                message = f"{network} overlaps with {theirs} of fabric {other}"
                place = ("fabrics", other, "subnet") if there.subnet else ("fabrics", other)
                yield Found(message, path, (Related(place, f"has {theirs}"),), help=f"set fabrics.{name}.subnet", on_key=not fabric.subnet)
        seen.append((name, network))
