"""A capacity that FSx for Lustre does not come in. The AWS provider accepts it in validate and in plan; the API refuses it."""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ...diagnostics import Diagnostic


def fsx_sizes(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC216 no-such-fsx-size."""
    for name, store in blueprint.storage.items():
        if not isinstance(store, FsxLustre):
            continue
        rules = catalog.cloud("aws").fsx_lustre
        gib, rest = divmod(store.capacity, 2**30)
        if rest or not rules.capacity_fits(gib, store.throughput_mbps_per_tib, efa=False):
            step = rules.capacity_step_gib
            near = sorted({max(step, gib // step * step), (gib // step + 1) * step, *rules.capacities_gib}, key=lambda n: abs(n - gib))[:2]
            message = f"{store.capacity / 2**30:,.0f} GiB is no size of this file system"
            yield Diagnostic("IAC216", "no-such-fsx-size", "error", message, ("storage", name, "capacity"), help=f"nearest: {' or '.join(f'{n}GiB' for n in sorted(near))}")
