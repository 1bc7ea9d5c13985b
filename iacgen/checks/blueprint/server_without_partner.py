"""A Lustre server that no other can stand in for.

Why: servers 1 and 2, 3 and 4 and so on are pairs that see each other's devices. In a pool of an odd number the last one is alone: when
it is down, its part of every file is gone, and jobs hang on it.

Bad::

    nodes:
      oss: {site: hall, system: lustre-oss, count: 7}
      mds: {site: hall, system: lustre-mds, count: 1}

Good: ``count: 8`` and ``count: 2``.

Source: mkfs.lustre(8), --servicenode; Lustre operations manual, failover.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import lustre_servers
from ..rule import Found, rule


@rule("IAC265", "server-without-partner", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name in sorted(lustre_servers(blueprint)):
        pool = blueprint.nodes[name]
        if pool.count % 2:
            last = f"{name}{pool.count:0{pool.width}d}"
            yield Found(f"{last} holds targets of Lustre, and no other server can take them over", ("nodes", name, "count"))
