"""Cache servers whose ports are slower than the job reads.

Why: the servers answer from memory, over their ports on the network of the nodes. When all ports together carry less than the steps take,
the cache is slower than the store that it should relieve.

Bad::

    nodes:
      cache: {site: hall, system: generic-1u, count: 2}    # 1 Gb/s each on the management network
    training:
      vision: {nodes: gpu, global_batch: 65536, input: {sample: 1MB, cache: {kind: redis, servers: cache}}}

Good: servers on an in-band network of 100 Gb/s.

Source: the ports of the catalog; host names lead to addresses on the network over which a pool is reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ...units import gb_per_s
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC592", "cache-network-slow", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        it, cache = job.reading, job.reading.input.cache
        fabric = subject.design.management_of(cache.pool) if cache and cache.pool else None
        if fabric is None or cache is None or cache.pool is None or fabric.technology == "efa":
            continue
        rate = cache.servers * fabric.nics[cache.pool].count * fabric.link_gbps[cache.pool] * 1e9 / 8
        if it.bytes_per_s > rate:
            related = (Related(("fabrics", fabric.name), "the network between them"),) if fabric.name in subject.blueprint.fabrics else ()
            message = f"{name} takes {gb_per_s(it.bytes_per_s)}, and {cache.servers} hosts of {cache.pool} give {gb_per_s(rate)} over {fabric.name}"
            yield Found(message, ("training", name, "input", "cache", "servers"), related)
