"""A network that holds the addresses that Docker takes for itself.

Why: where Docker is installed, each host routes 172.17.0.0/16 to its own containers. Machines with such an address cannot be reached
from there, without any message; other machines can.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, network: 172.17.0.0/16}

Good: ``network: 10.64.0.0/16``.

Source: docker-archive/for-aws#117, moby/libnetwork#2001.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, Path, rule

BRIDGE = ipaddress.IPv4Network("172.17.0.0/16")


@rule("IAC234", "docker-network", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    written: list[tuple[str | None, Path]] = [(fabric.subnet, ("fabrics", name, "subnet")) for name, fabric in blueprint.fabrics.items()]
    written += [(site.network, ("sites", name, "network")) for name, site in aws_sites(blueprint).items()]
    for text, path in written:
        if text and ipaddress.IPv4Network(text).overlaps(BRIDGE):
            yield Found(f"{text} holds {BRIDGE}, which Docker routes to its own containers on every host", path)
