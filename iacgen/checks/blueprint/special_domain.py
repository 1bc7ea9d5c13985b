"""A domain that resolvers treat in a way of their own.

Why: names below .local are asked for by multicast and not by DNS, those below .localhost are the host itself, .invalid, .test,
.example and .onion are never looked up. Hosts then reach each other from some machines and not from others.

Bad::

    sites:
      hall: {kind: on-prem, domain: cluster.local}

Good: ``domain: cluster.internal``, or a domain that you own.

Source: RFC 6761 and RFC 6762; avahi#52, names below .local that DNS knows and hosts do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule

SPECIAL = {
    "local": "resolvers ask for it by multicast (mDNS)",
    "localhost": "resolvers take it for the host itself",
    "invalid": "resolvers never look it up",
    "test": "it is kept for tests",
    "example": "it is kept for manuals",
    "onion": "resolvers never look it up",
}


@rule("IAC283", "special-domain", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in blueprint.sites.items():
        last = (site.domain or "").rpartition(".")[2]
        if last in SPECIAL:
            yield Found(f".{last}: {SPECIAL[last]}", ("sites", name, "domain"))
