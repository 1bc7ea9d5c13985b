"""Samples that are larger than a cache takes.

Why: Redis holds at most 512 MB under one key and memcached 1 GiB. What is larger is refused one by one, so that the cache stays empty and the
store is read as if there were none.

Bad::

    training:
      video: {nodes: gpu, input: {sample: 2GB, cache: {kind: memcached, servers: cache}}}

Good: ``cache: {kind: nvme, path: /raid/cache}``, or samples in pieces.

Source: redis.conf of Redis 7.0, proto-max-bulk-len; memcached 1.6.18, "Cannot set item size limit higher than a gigabyte".
"""

from __future__ import annotations

from collections.abc import Iterator

from ...training.data import LARGEST_ITEM
from ...units import bytes_si
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC526", "sample-beyond-cache")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        it, cache = job.reading, job.reading.input.cache
        if cache and cache.pool and it.sample_bytes > LARGEST_ITEM[cache.kind]:
            message = f"a sample of {bytes_si(it.sample_bytes)}, and {cache.kind} takes {bytes_si(LARGEST_ITEM[cache.kind])} at most"
            yield Found(message, ("training", name, "input", "cache", "kind"))
