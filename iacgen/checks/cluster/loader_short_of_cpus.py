"""A loader with more workers than a rank has processors for.

Why: each worker is a process. Workers that take turns on a processor prepare no more samples than one does, and take it from the rank that
drives the GPU.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 4}    # 28 processors for each of eight ranks
    training:
      vision: {nodes: gpu, input: {workers: 64}}

Good: ``workers: 24``, or samples that take less time.

Source: torch.utils.data.DataLoader of PyTorch 2.13, which warns of more workers than processors.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...training.data import KEPT_CPUS
from ...units import seconds
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC576", "loader-short-of-cpus", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        it = job.reading
        if it.cpus is None:
            continue
        room, at = max(1, it.cpus - KEPT_CPUS), ("training", name, "input")
        if it.input.workers and it.workers > room:
            yield Found(f"{it.workers} workers on the {it.cpus} processors of a rank, which keeps {KEPT_CPUS} for itself", (*at, "workers"), help=f"set workers: {room} at most")
        elif not it.input.workers and it.wanted_workers > room:
            each = it.samples_per_s / job.spec.data_parallel
            message = f"{each:.3g} samples a second of {seconds(it.input.prepare_s)} each want {it.wanted_workers} workers in each rank, and {room} have a processor"
            yield Found(message, (*at, "prepare"), help="prepare samples beforehand, or on the GPU")
