"""A domain or time server that no resolver takes for a name.

Why: a name ends in a word, not in a number; each part has 63 characters at most and neither begins nor ends with a dash; the whole has
253. Services that read such a name from their files start, and never find the host.

Bad::

    sites:
      hall: {kind: on-prem, domain: 10.20.30.40}
    software: {time_servers: [ntp..internal, 192.168.1.300]}

Good: ``domain: cluster.internal``, ``time_servers: [ntp.internal, 192.168.1.30]``.

Source: RFC 1123, section 2.1; RFC 1035, section 2.3.4; chrony.conf(5), server.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule

LONGEST = 253
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def is_name(text: str) -> bool:
    """Whether ``text`` is a DNS name that cannot be taken for an address."""
    labels = text.split(".")
    return len(text) <= LONGEST and all(_LABEL.fullmatch(label) for label in labels) and not labels[-1].isdecimal()


@rule("IAC284", "not-a-host-name")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, site in blueprint.sites.items():
        if site.domain:
            hosts = [f"{pool}{'0' * section.width}.{site.domain}" for pool, section in blueprint.nodes.items() if section.site == name]
            wrong = next((host for host in hosts or [site.domain] if not is_name(host)), None)
            if wrong:
                yield Found(f"hosts would be called {wrong[:80]}{'...' if len(wrong) > 80 else ''}, which is no DNS name", ("sites", name, "domain"))
    for i, server in enumerate(blueprint.software.time_servers):
        if not is_name(server) and not _is_address(server):
            yield Found(f"{server} is neither a DNS name nor an address", ("software", "time_servers", i))


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
