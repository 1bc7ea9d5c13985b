"""A store that is slower than the lowest grade for its GPUs.

Why: data and checkpoints of many nodes come at once. NVIDIA grades stores by their rate for each scalable unit of 32 nodes; below the
lowest grade training waits for data.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 127}
    storage:
      scratch: {kind: lustre, read: 20GB/s, write: 10GB/s}

Good: ``read: 60GB/s, write: 30GB/s``.

Source: DGX SuperPOD reference architecture H100, storage performance: good is 15 and 7 GB/s for one unit, 60 and 30 for four.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint.storage import Lustre
from ...training.grades import UNIT_NODES, offered
from ...units import gb_per_s
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC544", "store-below-grade", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, store in subject.blueprint.storage.items():
        if not isinstance(store, Lustre):
            continue
        nodes = sum(pool.count for pool in subject.design.pools.values() if pool.gpu and pool.site == store.site)
        for field in ("read", "write"):
            wanted = offered("good", field, nodes)
            if nodes >= UNIT_NODES and getattr(store, field) < wanted:
                yield Found(f"{nodes} nodes with GPUs ask for {gb_per_s(wanted)}", ("storage", name, field))
