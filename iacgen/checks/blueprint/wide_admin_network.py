"""Public addresses by the million that may log in to the head node.

Why: a range of the internet as wide as this belongs to a provider with many customers, not to an office. Each of them reaches the
SSH port.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, admin_networks: [52.0.0.0/8]}

Good: ``admin_networks: [52.95.110.0/24]``, or a private range behind a VPN.

Source: aws-parallelcluster#580, an SSH port that is a violation of the owner's rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, rule
from .malformed_admin_network import network_of

NARROW = 16  # prefix length: 65,536 addresses


@rule("IAC237", "wide-admin-network", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        for i, text in enumerate(site.admin_networks):
            network = network_of(text)
            if network and 0 < network.prefixlen < NARROW and network.is_global:
                yield Found(f"{network.num_addresses:,} public addresses may log in to the head node", ("sites", name, "admin_networks", i))
