"""The head node open to the whole internet.

Why: every address may then try passwords and keys on the machine that starts jobs as anyone. The Terraform root refuses 0.0.0.0/0;
two halves of the world in two entries would pass there and mean the same.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, admin_networks: [0.0.0.0/0]}

Good: the network of the office or of the VPN, ``admin_networks: [198.51.100.0/24]``, or none: Session Manager needs no open port.

Source: aws-parallelcluster#580 and #6708, where the whole world is the default.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, rule
from .malformed_admin_network import network_of


@rule("IAC235", "open-to-the-world")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        networks = [network_of(text) for text in site.admin_networks]
        path = ("sites", name, "admin_networks")
        whole = [i for i, network in enumerate(networks) if network and network.prefixlen == 0]
        yield from (Found("the whole internet may log in to the head node", (*path, i)) for i in whole)
        together = list(ipaddress.collapse_addresses(network for network in networks if network))
        if not whole and together and together[0].prefixlen == 0:
            yield Found("these networks together are the whole internet", path, on_key=True)
