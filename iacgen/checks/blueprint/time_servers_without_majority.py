"""Two time servers.

Why: when the two disagree there is no telling which is right, so two are worse than one: clocks may jump from one to the other.
Munge refuses credentials that are five minutes off, and logs of a broken job cannot be put in order.

Bad::

    software: {time_servers: [ntp-a.internal, ntp-b.internal]}

Good: one of them alone, or four.

Source: RFC 8633, section 3.2: use enough time sources.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC238", "time-servers-without-majority", "info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    if len(blueprint.software.time_servers) == 2:
        yield Found("of two time servers that disagree neither can be believed", ("software", "time_servers"), on_key=True)
