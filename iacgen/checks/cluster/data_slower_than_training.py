"""Data that cannot be read as fast as the job trains.

Why: a step waits for its samples. A store that reads half as fast as the steps take them halves the speed of all GPUs, and no report of
the job says why.

Bad::

    storage:
      scratch: {kind: lustre, read: 20GB/s, mount: /scratch}
    training:
      vision: {nodes: gpu, count: 64, global_batch: 65536, data: /scratch/images, input: {sample: 1MB}}

Good: ``read: 120GB/s``, or a cache that holds the data set.

Source: DGX SuperPOD reference architecture RA-11333-001: uncompressed vision data needs 4 GB/s for each GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ...units import gb_per_s, seconds
from ..duties import mounted_at, read_rate
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC575", "data-slower-than-training", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    b = subject.blueprint
    for name, job in subject.jobs.items():
        it, path = job.reading, job.spec.data_path
        store = mounted_at(b, b.training[name].nodes, path) if path else None
        rate = read_rate(b.storage[store]) if store else None
        held = it.cached_bytes if it.input.cache and it.input.cache.servers else it.input.cache and it.node_bytes
        if rate is None or it.bytes_per_s <= rate or (held and it.input.size_bytes and held >= it.input.size_bytes):
            continue
        step = job.checkpoints.step_s if job.checkpoints else job.spec.global_batch / it.samples_per_s
        field = "read" if hasattr(b.storage[store], "read") else "throughput_mbps_per_tib"
        message = f"{name} takes {gb_per_s(it.bytes_per_s)} at {seconds(step)} a step, and {store} reads {gb_per_s(rate)}"
        yield Found(message, ("training", name, "data"), (Related(("storage", store, field), "how fast it reads"),), help="a cache that holds the data set, a faster store, or smaller samples")
