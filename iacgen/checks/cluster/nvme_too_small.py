"""More data for a node's NVMe than it holds.

Why: a copy that fills the disk ends the job as it starts, and a cache that does ends it later, in the middle of an epoch.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 4}    # 30.72 TB each
    training:
      vision: {nodes: gpu, input: {size: 60TB, cache: {kind: nvme, path: /raid/cache}}}

Good: ``cache: {kind: nvme, path: /raid/cache, size: 25TB}``, or a copy of which each node has its part (``share: true``).

Source: NVIDIA DGX H100/H200 User Guide, table 1; a tenth is left to the file system, a judgement.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...training.data import USABLE_NVME
from ...units import bytes_si
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC590", "nvme-too-small")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        it, disk = job.reading, job.spec.host_nvme_tb
        if not it.node_bytes or disk is None:
            continue
        room = USABLE_NVME * disk * 1e12
        if it.node_bytes > room:
            local = it.input.stage is not None and it.input.stage.local
            message = f"{bytes_si(it.node_bytes)} for each node's NVMe, which holds {bytes_si(room)}" if disk else f"{bytes_si(it.node_bytes)} for each node's NVMe, and these machines have none"
            yield Found(message, ("training", name, "input", "stage" if local else "cache"))
