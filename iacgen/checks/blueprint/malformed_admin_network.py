"""A network of administrators that is none.

Why: Terraform refuses what is no range. A range with host bits, such as 10.1.2.3/16, is worse: the provider refuses it in some
resources, and in others AWS stores another range than the file says, so that every plan shows a change.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, admin_networks: [10.1.2.3/16, 192.168.1.7]}

Good: ``admin_networks: [10.1.0.0/16, 192.168.1.7/32]``.

Source: terraform-provider-aws#4641, ansible#25403.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, rule


def network_of(text: str) -> ipaddress.IPv4Network | None:
    """The network that ``text`` is, written as Terraform wants it; None for anything else."""
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError:
        return None
    return network if str(network) == text else None


@rule("IAC236", "malformed-admin-network")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        for i, text in enumerate(site.admin_networks):
            if network_of(text) is None:
                yield Found(f"{text} is no network", ("sites", name, "admin_networks", i), help=_meant(text))


def _meant(text: str) -> str:
    try:
        return f"did you mean {ipaddress.IPv4Network(text, strict=False)}?"
    except ValueError:
        return "write an IPv4 range such as 192.168.1.0/24"
