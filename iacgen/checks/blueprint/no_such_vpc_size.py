"""A network of a size that no VPC has.

Why: a VPC is a /16 at most. It is cut in two, a subnet for the machines and one for the way out, and a subnet is a /28 at least;
so a /28 has no room for both. The API refuses the others only when everything else has been planned.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, network: 10.0.0.0/8}

Good: ``network: 10.0.0.0/16``.

Source: Amazon VPC user guide, VPC and subnet sizing: blocks from /28 to /16.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, rule

LARGEST, SMALLEST = 16, 27  # prefix lengths


@rule("IAC231", "no-such-vpc-size")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        prefix = ipaddress.IPv4Network(site.network).prefixlen
        if not LARGEST <= prefix <= SMALLEST + (site.existing is not None):
            yield Found(f"a site's network is a /{LARGEST} to a /{SMALLEST + (site.existing is not None)}, this is a /{prefix}", ("sites", name, "network"))
