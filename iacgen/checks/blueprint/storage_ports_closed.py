"""A file system behind a security group that does not open Lustre's ports.

Why: clients reach FSx for Lustre at TCP 988, and client and servers answer each other at 1018 to 1023. Machines and file system are in
one group; where its members may not send each other these, the mount waits for ever and the machine never finishes its boot.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a, security_group: {members: [988, 6817-6818, 32768-60999]}}
    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 4800GiB, mount: /fsx}

Good: ``members: [988, 1018-1023, 6817-6818, 32768-60999]``, or ``[all]``.

Source: Amazon FSx for Lustre User Guide, file system access control with Amazon VPC; aws-parallelcluster's validator that an FSx file
system's group opens port 988.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ...diagnostics import Related
from ..duties import aws_sites, closed, efa_interfaces
from ..rule import Found, rule


@rule("IAC290", "storage-ports-closed")
def check(blueprint: Blueprint) -> Iterator[Found]:
    needed = [(ports.first, ports.last) for ports in catalog.cloud("aws").fsx_lustre.ports]
    for name, site in aws_sites(blueprint).items():
        if any(pool.site == name and efa_interfaces(blueprint, p) for p, pool in blueprint.nodes.items()):
            continue  # EFA wants all: that is said of the group
        missing = closed(needed, site.group.ports)
        store = next((s for s, wanted in blueprint.storage.items() if isinstance(wanted, FsxLustre) and wanted.site == name), None)
        if store and missing:
            said = site.group.members is not None
            path = ("sites", name, "security_group", "members" if said else "id")
            unsaid = f"nothing is said of what members of {site.group.id} may send each other; {store} is reached at TCP {missing}"
            message = f"members may not send each other TCP {missing}, by which machines reach {store}" if said else unsaid
            yield Found(message, path, (Related(("storage", store), "what is reached by them"),), help="list these ports, or all, once they are open", on_key=said)
