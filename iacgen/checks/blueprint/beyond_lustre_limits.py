"""More Lustre targets than one file system can have.

Why: a file system knows 256 metadata targets and 8,150 object storage targets at most. Formatting a further one is refused when all
others are in place.

Bad::

    nodes:
      mds: {site: hall, system: lustre-mds, count: 300}

Good: a second file system.

Source: Lustre operations manual, file system size limits.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import lustres
from ..rule import Found, rule

MOST_MDTS, MOST_OSTS = 256, 8150
OST_BYTES = 1024 * 2**40  # largest OST, Lustre tuning wiki


@rule("IAC266", "beyond-lustre-limits")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        if (mdts := blueprint.nodes[store.metadata].count) > MOST_MDTS:
            yield Found(f"{mdts} metadata targets, one a server; Lustre knows {MOST_MDTS}", ("storage", name, "metadata"))
        servers, each = blueprint.nodes[store.servers].count, 2
        while store.capacity > each * servers * OST_BYTES:
            each *= 2
        if each * servers > MOST_OSTS:
            field = "servers" if 2 * servers > MOST_OSTS else "capacity"
            yield Found(f"{each * servers:,} object targets, {each} a server; Lustre knows {MOST_OSTS:,}", ("storage", name, field))
