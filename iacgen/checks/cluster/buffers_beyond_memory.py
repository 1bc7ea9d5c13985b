"""Samples read ahead that do not fit into a node's shared memory.

Why: workers hand batches over in /dev/shm, which takes half of a node's memory unless somebody says otherwise. Where it is full a worker
ends with "Bus error", and the job with it.

Bad::

    training:
      vision: {nodes: gpu, input: {sample: 30MB, loaded: 400MB, workers: 24, prefetch: 32}}

Good: ``prefetch: 4``.

Source: Linux, Documentation/filesystems/tmpfs.rst: half of the memory by default; pytorch#5040, DataLoader and shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...units import bytes_si
from ..rule import Found, rule
from ..subject import Subject

SHARED = 0.5  # of the memory


@rule("IAC577", "buffers-beyond-memory")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        it, memory = job.reading, job.spec.host_memory_gib
        if memory and it.buffer_bytes > SHARED * memory * 2**30:
            key = next((k for k, said in (("prefetch", it.input.prefetch), ("loaded", it.input.loaded_bytes), ("sample", it.input.sample_bytes)) if said), "workers")
            message = f"{it.node_readers} loaders of {it.workers} workers with {it.prefetch} batches each hold {bytes_si(it.buffer_bytes)} on a node, and half of its memory is {bytes_si(SHARED * memory * 2**30)}"
            yield Found(message, ("training", name, "input", key))
