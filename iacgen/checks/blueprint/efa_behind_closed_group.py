"""EFA in a security group that is not open to itself.

Why: EFA is not TCP and has no ports. Its packets pass only between members of a group that lets all traffic to itself, in and out; with
anything less the interfaces come up, libfabric finds the provider, and the first collective hangs. iacgen makes such a group. Of a
group that exists, or of one whose ports are listed, it has to be said.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, security_group: {members: ["988", "1018-1023"]}}
    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4}

Good: ``members: [all]``, once the group has the two rules; or no ``members`` in a group that iacgen makes.

Source: Amazon EC2 User Guide, "Get started with EFA": an EFA requires a security group that allows all inbound and outbound traffic to
and from the security group itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import aws_sites, efa_interfaces
from ..rule import Found, rule


@rule("IAC299", "efa-behind-closed-group")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in aws_sites(blueprint).items():
        pool = next((p for p, wanted in blueprint.nodes.items() if wanted.site == name and efa_interfaces(blueprint, p)), None)
        if pool and site.group.ports is not None:
            said = site.group.members is not None
            path = ("sites", name, "security_group", "members" if said else "id")
            group = site.group.id or "the group"
            message = f"{group} lets some ports pass among its members; EFA of {pool} wants all" if said else f"nothing is said of what members of {group} may send each other; EFA of {pool} wants all"
            yield Found(message, path, (Related(("nodes", pool), "machines with EFA"),), help="members: [all], once the group lets all of it in and out to itself", on_key=said)
