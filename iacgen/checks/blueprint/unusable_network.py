"""A network whose addresses no host can have.

Why: loopback, link-local, documentation and reserved ranges count as not public, but are never routed: a host would talk to itself,
or drop the packet. Every file that names an address would be wrong.

Bad::

    fabrics:
      mgmt: {site: hall, purpose: management, connects: [gpu], technology: ethernet, switch: sn2201, subnet: 169.254.0.0/16}

Good: a part of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16.

Source: RFC 1918 and RFC 6890. Cards of Azure and DGX carry link-local addresses of their own, which NCCL must avoid
(aws-do-eks PR#54).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, Path, rule

FOR_HOSTS = tuple(ipaddress.IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))


@rule("IAC233", "unusable-network")
def check(blueprint: Blueprint) -> Iterator[Found]:
    written: list[tuple[str | None, Path]] = [(fabric.subnet, ("fabrics", name, "subnet")) for name, fabric in blueprint.fabrics.items()]
    written += [(site.network, ("sites", name, "network")) for name, site in aws_sites(blueprint).items()]
    for text, path in written:
        if text and not any(ipaddress.IPv4Network(text).subnet_of(range_) for range_ in FOR_HOSTS):
            yield Found(f"{text} holds addresses that no host can have", path, help=f"use a part of {', '.join(map(str, FOR_HOSTS))}")
