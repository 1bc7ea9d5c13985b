"""A rate that the servers' ports cannot carry.

Why: the promised rate is what checkpoints and data loading are sized with. A file system that promises more than its servers have
network for makes every such figure wrong, and the fault shows only under load.

Bad::

    nodes:
      oss: {site: hall, system: lustre-oss, count: 2}
    storage:
      scratch: {kind: lustre, servers: oss, read: 400GB/s, write: 100GB/s}

Good: ``read: 160GB/s`` from two servers with two 400 Gb/s ports each, or more servers.

Source: the DGX SuperPOD reference architecture sizes storage by read and write rates (RA-11333-001, table 6); Lustre operations manual,
network bandwidth of a server.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...units import gb_per_s
from ...diagnostics import Related
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC267", "rate-above-ports", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        pool = blueprint.nodes[store.servers]
        nic = catalog.system(pool.system).nics.get(blueprint.fabrics[store.fabric].purpose)
        if nic is None:
            continue
        most = pool.count * nic.count * nic.gbps * 10**9 // 8
        for field in ("read", "write"):
            if (rate := getattr(store, field)) > most:
                message = f"{gb_per_s(rate)} from {pool.count} servers with {nic.count} x {nic.gbps} Gb/s, which carry {gb_per_s(most)}"
                yield Found(message, ("storage", name, field), (Related(("nodes", store.servers, "count"), "so many servers"),))
