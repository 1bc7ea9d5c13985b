"""A file system that is slower than the checkpoints that are promised.

Why: training stands still while the state is saved. A store that takes three times as long as was planned makes the interval between
saves wrong, and with it the work that a failure costs.

Bad::

    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 4800GiB, throughput_mbps_per_tib: 125, mount: /fsx}
    training:
      pretrain: {model: llama-3-70b, checkpoint: {to: fsx, target: 60s}}

Good: ``capacity: 48000GiB`` at 500 MB/s for each TiB, or ``target: 30min``.

Source: BLOOM-176B wrote 2.3 TB in 40 s at 57 GB/s (bigscience, tr11 chronicles); DGX SuperPOD reference architecture, table 6.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...training.checkpoints import ASSUMED_SAVE_S
from ...units import bytes_si, gb_per_s, seconds
from ...diagnostics import Related
from ..duties import checkpoint_bytes, write_rate
from ..rule import Found, rule


@rule("IAC289", "store-too-slow", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        rate = write_rate(blueprint.storage[job.checkpoint.to]) if job.checkpoint else None
        target = job.checkpoint.target if job.checkpoint else None
        if rate and (size := checkpoint_bytes(blueprint, job)) / rate > (target or ASSUMED_SAVE_S):
            wanted = f"{seconds(target)} are promised" if target else f"{seconds(ASSUMED_SAVE_S)} are assumed"
            message = f"{bytes_si(size)} at {gb_per_s(rate)} take {seconds(size / rate)}, and {wanted}"
            field = "write" if hasattr(blueprint.storage[job.checkpoint.to], "write") else "throughput_mbps_per_tib"
            related = (Related(("storage", job.checkpoint.to, field), "how fast it is"),)
            help = f"promise {seconds(size / rate)} or more, or a store that writes {gb_per_s(size / (target or ASSUMED_SAVE_S))}"
            yield Found(message, ("training", name, "checkpoint", *(["target"] if target else [])), related, help)
