"""A security group that exists, for a network that does not.

Why: a security group belongs to one VPC and to no other. A site without ``existing`` gets a VPC of its own, in which an old group
cannot be used: the first machine is refused, after the network is paid for.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, security_group: {id: sg-0a1b2c3d4e5f67890, members: [all]}}

Good: the network of the group in ``existing``, or no ``id``.

Source: Amazon EC2 API, InvalidParameter: "Security group ... and subnet ... belong to different networks".
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import aws_sites
from ..rule import Found, rule


@rule("IAC298", "group-without-its-network")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        if site.group.id and site.existing is None:
            message = f"{site.group.id} belongs to a VPC that is there, the site gets a new one"
            yield Found(message, ("sites", name, "security_group", "id"), help=f"name its VPC and subnet in sites.{name}.existing")
