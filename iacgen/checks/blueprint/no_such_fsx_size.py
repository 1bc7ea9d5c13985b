"""A capacity that FSx for Lustre does not come in.

Why: the AWS provider accepts any number in validate and in plan; the API refuses it after minutes of applying.

Bad::

    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 47000GiB, mount: /fsx}

Good::

    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 48000GiB, mount: /fsx}

Source: Amazon FSx for Lustre user guide, file system storage capacity; hashicorp/aws 5.100.0 accepts 1300 GiB (measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ..rule import Found, rule


@rule("IAC216", "no-such-fsx-size")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        if not isinstance(store, FsxLustre):
            continue
        rules = catalog.cloud("aws").fsx_lustre
        gib, rest = divmod(store.capacity, 2**30)
        if rest or not rules.capacity_fits(gib, store.throughput_mbps_per_tib, efa=False):
            step = rules.capacity_step_gib
            near = sorted({max(step, gib // step * step), (gib // step + 1) * step, *rules.capacities_gib}, key=lambda n: abs(n - gib))[:2]
            nearest = " or ".join(f"{n}GiB" for n in sorted(near))
            yield Found(f"{store.capacity / 2**30:,.0f} GiB is no size of this file system", ("storage", name, "capacity"), help=f"nearest: {nearest}")
