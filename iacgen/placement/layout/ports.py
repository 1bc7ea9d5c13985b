"""Which of a switch group's hosts takes which of the ranks that lie there: nothing that is counted hangs on it, and static routes do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iacgen.training.traffic import NodeGrid

from ..tiers import Tiers

Order = NDArray[np.int64]


def in_port_order(tiers: Tiers, grid: NodeGrid, order: Order) -> Order:
    """The same order, but that hosts of one leaf group, NVLink domain and GPU type stand column by column, in each stage by stage. That of
    the hosts as they come stays.

    Routes that are set once deal the hosts of a leaf over the uplinks of all others port by port (Zahavi, Fat-tree routing and node
    ordering providing contention free traffic for MPI global collectives, Journal of Parallel and Distributed Computing 72, 2012). The
    rings of several stages come in at the same column: at hosts side by side, each by an uplink of its own.
    """
    if (np.diff(order) > 0).all():
        return order
    v = np.arange(grid.nodes)
    alike = [tiers.labels[0][order]] + [of[order] for of in (tiers.domain, tiers.kind) if of is not None]
    out = np.empty_like(order)
    out[np.lexsort((v // grid.row, v % grid.row, *alike))] = order[np.lexsort((order, *alike))]
    return out
