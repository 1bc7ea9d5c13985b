"""A subnet of an existing network that is not inside the network's range.

Why: with ``existing`` the site moves into a VPC that is there already, and ``network`` says which range that VPC has. A subnet outside
of it is a subnet of another VPC, or the range is still the default. Room for the machines and overlaps with other sites would be
counted with addresses that nobody gets.

Bad::

    sites:
      ohio:
        kind: aws
        region: us-east-2
        zone: us-east-2a
        existing: {vpc: vpc-0a1b2c3d4e5f67890, subnet: subnet-0a1b2c3d4e5f67890, addresses: 172.31.16.0/20}

Good: ``network: 172.31.0.0/16`` beside it, the range of that VPC.

Source: Amazon VPC user guide, subnet sizing: a subnet's block is a part of its VPC's.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import aws_sites
from ..rule import Found, rule


@rule("IAC297", "subnet-outside-network")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        if site.existing and not ipaddress.IPv4Network(site.existing.addresses).subnet_of(ipaddress.IPv4Network(site.network)):
            message = f"{site.existing.addresses} is no part of {site.network}, the network of the site"
            yield Found(message, ("sites", name, "existing", "addresses"), (Related(("sites", name, "network"), "the network of the site"),), help=f"sites.{name}.network is the range of the VPC")
