"""Feeds that cannot be redundant in the number that there are.

Why: 2N is two sides, each of which carries everything: an odd feed has no counterpart and stays unused. One feed alone is redundant
to nothing.

Bad::

    sites:
      hall: {kind: on-prem, power: {feeds: 3, redundancy: 2N, capacity: 1MW}}

Good: ``feeds: 4``, or ``redundancy: N+1``.

Source: Uptime Institute, Tier Standard: Topology.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC587", "feed-without-counterpart")
def check(subject: Subject) -> Iterator[Found]:
    for name, facility in subject.design.facilities.items():
        feeds = facility.feeds
        if feeds and feeds.redundancy != "N" and (feeds.count == 1 or feeds.redundancy == "2N" and feeds.count % 2):
            yield Found(f"{feeds.count} feeds cannot be {feeds.redundancy}", ("sites", name, "power", "feeds"))
