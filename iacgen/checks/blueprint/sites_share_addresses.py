"""Two sites of one cluster that use the same addresses.

Why: both work, as long as nobody joins them. A peering or a VPN between two networks that overlap is refused or sends packets the
wrong way, and addresses cannot be changed later without building the site again. Two cloud sites without ``network`` both take
the default.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a}
      oregon: {kind: aws, region: us-west-2, zone: us-west-2a}

Good: ``network: 10.65.0.0/16`` on one of them.

Source: Amazon VPC peering guide: no peering between VPCs with overlapping blocks; docker-archive/for-aws#117 shows how silently such
packets go astray.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ...design.fabric.build import SUBNETS
from ...diagnostics import Related
from ..duties import aws_sites
from ..rule import Found, Path, rule


@rule("IAC232", "sites-share-addresses", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    taken: list[tuple[str, Path, ipaddress.IPv4Network]] = []
    for name, fabric in blueprint.fabrics.items():
        there = ("fabrics", name, "subnet") if fabric.subnet else ("fabrics", name)
        taken.append((f"fabric {name}", there, ipaddress.IPv4Network(fabric.subnet or SUBNETS[fabric.purpose])))
    for name, site in aws_sites(blueprint).items():
        network = ipaddress.IPv4Network(site.network)
        for what, there, other in taken:
            if network.overlaps(other):
                yield Found(f"{network} overlaps with {other} of {what}", ("sites", name, "network"), (Related(there, f"has {other}"),), help=f"set sites.{name}.network")
        taken.append((f"site {name}", ("sites", name, "network") if site.network != type(site).model_fields["network"].default else ("sites", name), network))
