"""A cloud network without room for the machines and file systems of its site.

Why: the nodes get one half of the network, or the subnet that exists, and AWS keeps five addresses of every subnet. The provider
accepts any size in validate and plan; the last machines fail to start when the first ones already cost money.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, network: 10.64.0.0/26}
    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 32}

Good: ``network: 10.64.0.0/25`` or larger; the default is a /16.

Source: Amazon VPC user guide, subnet sizing (five addresses are kept); hashicorp/aws 5.100.0 plans such a subnet without a word
(measured).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ..duties import aws_sites, fsx_addresses
from ..rule import Found, rule
from .no_such_vpc_size import LARGEST, SMALLEST

KEPT = 5  # addresses of a subnet: the first four and the last


@rule("IAC230", "network-too-small")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        text = site.existing.addresses if site.existing else site.network
        prefix = ipaddress.IPv4Network(text).prefixlen
        if not site.existing and not LARGEST <= prefix <= SMALLEST:
            continue
        machines = sum(pool.count for pool in blueprint.nodes.values() if pool.site == name)
        servers = sum(fsx_addresses(store) for store in blueprint.storage.values() if isinstance(store, FsxLustre) and store.site == name)
        free = 2 ** (32 - prefix - (site.existing is None)) - KEPT
        if machines + servers > free:
            wanted = 31 + bool(site.existing) - (machines + servers + KEPT - 1).bit_length()
            message = f"{'the subnet' if site.existing else 'half of'} {text} has {free:,} addresses; {machines:,} machines and the file systems ({servers:,}) need {machines + servers:,}"
            yield Found(message, ("sites", name, *(("existing", "addresses") if site.existing else ("network",))), help=f"take a /{wanted} or larger" if wanted >= LARGEST else "use several sites")
