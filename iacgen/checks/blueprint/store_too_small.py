"""A file system without room for two checkpoints.

Why: the old checkpoint is kept until the new one is whole. Where only one fits, the save fails half way, and what is left on disk is
neither.

Bad::

    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 1200GiB, mount: /fsx}
    training:
      pretrain: {model: llama-3-70b, checkpoint: {to: fsx}}

Good: ``capacity: 2400GiB``, and more for the data set.

Source: 14 bytes for each parameter: BLOOM-176B wrote 2.3 TB (bigscience, tr11 chronicles); 12 with FSDP, which has no second copy of
the weights (PyTorch, MixedPrecision). All write the new checkpoint beside the old.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...units import bytes_si
from ...diagnostics import Related
from ..duties import checkpoint_bytes
from ..rule import Found, rule


@rule("IAC277", "store-too-small", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        capacity = getattr(blueprint.storage[job.checkpoint.to], "capacity", None) if job.checkpoint else None
        if capacity and 2 * (size := checkpoint_bytes(blueprint, job)) > capacity:
            message = f"two checkpoints of {bytes_si(size)} do not fit into {bytes_si(capacity)}"
            yield Found(message, ("training", name, "checkpoint", "to"), (Related(("storage", job.checkpoint.to, "capacity"), "how large it is"),))
