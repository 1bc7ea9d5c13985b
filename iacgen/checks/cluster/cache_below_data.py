"""A cache that holds part of the data.

Why: what is not in it is read from the store again in every epoch. Where samples come in a new order each time, a cache of half the data
answers half of the reads.

Bad::

    nodes:
      cache: {site: hall, system: generic-1u, count: 4}    # 384 GiB each
    training:
      vision: {nodes: gpu, input: {size: 12TB, cache: {kind: redis, servers: cache}}}

Good: enough servers for the data, or nodes' NVMe: ``cache: {kind: nvme, path: /raid/cache}``.

Source: arXiv:2007.06775 (CoorDL): with random order a cache hits for no more than the share of the data that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...units import bytes_si
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC591", "cache-below-data", "info")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        it = job.reading
        size, cache = it.input.size_bytes, it.input.cache
        held = it.cached_bytes if cache and cache.servers else cache.bytes if cache else None
        if size and held is not None and held < size:
            yield Found(f"it keeps {bytes_si(held)} of {bytes_si(size)}: {held / size:.0%} of the data", ("training", name, "input", "cache"))
