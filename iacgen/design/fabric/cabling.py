"""The links between switches as arrays, for fabrics whose groups are joined two by two: there single links count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Cabling:
    """Switches by number, and what joins two of them.

    ``names[s]`` of switch s; ``leaf[s]``: the group of the first tier whose hosts are on it, -1 where none are; ``group[s]``: the group of
    switches that it lies in; ``plane[s]``: the part that cables join it to. Link l joins ``a[l]`` and ``b[l]`` by ``links[l]`` cables, which
    carry ``Bps[l]`` bytes per second together, in each direction.
    """

    names: tuple[str, ...]
    leaf: Ints
    group: Ints
    plane: Ints
    a: Ints
    b: Ints
    links: Ints
    Bps: NDArray[np.float64]
