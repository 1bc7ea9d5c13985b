"""Where racks stand, by rules that growth moves nothing of.

The machines of a pool fill racks in the order of their numbers. A rack of leaf switches stands before the first rack whose machines
are all its own, so its place follows from the size of a full group and not from how many machines there are: the racks of a pool and
its leaves form one endless sequence, of which the beginning is there. What follows the sequence of a pool keeps clear of the size
that the pool is planned for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .model import Floor


@dataclass(frozen=True)
class LeafRacks:
    """Racks of leaves along a pool: ``groups`` groups of leaves, those of ``hosts`` machines (None: there is one group and no second),
    take ``racks`` of them; ``count`` in all when the pool has its planned size."""

    groups: int
    hosts: int | None
    racks: int
    count: int

    def begun(self, rack: int, fit: int) -> int:
        """How many stand before rack number ``rack`` of the pool, from 0, in which ``fit`` machines have room."""
        if rack < 0:
            return 0
        return self.racks * (1 if self.hosts is None else rack * fit // self.hosts + 1)

    def anchor(self, number: int, fit: int) -> int:
        """The pool's rack that leaf rack ``number``, from 0, stands before."""
        return 0 if self.hosts is None else -(-(number // self.racks * self.hosts) // fit)


@dataclass(frozen=True)
class Lane:
    """A pool of ``planned`` machines, ``fit`` in a rack, and the leaf racks along it."""

    fit: int
    planned: int
    leaves: tuple[LeafRacks, ...] = ()

    def host(self, rack: int) -> int:
        """Where the pool's rack number ``rack`` stands in the sequence; all from 0."""
        return rack + sum(leaf.begun(rack, self.fit) for leaf in self.leaves)

    def leaf(self, which: int, number: int) -> int:
        """Where rack ``number`` of the leaves ``which`` stands; those that share a place stand in the order of ``leaves``."""
        anchor = self.leaves[which].anchor(number, self.fit)
        before = sum(leaf.begun(anchor, self.fit) for leaf in self.leaves[:which])
        return anchor + number + before + sum(leaf.begun(anchor - 1, self.fit) for leaf in self.leaves[which + 1 :])

    @property
    def racks(self) -> int:
        """The pool's own racks at its planned size."""
        return -(-self.planned // self.fit)

    @property
    def length(self) -> int:
        """Places of the whole at its planned size."""
        ends = [self.leaf(i, leaf.count - 1) + 1 for i, leaf in enumerate(self.leaves) if leaf.count]
        return max([self.host(self.racks - 1) + 1, *ends])


def spot(floor: Floor, index: int, side: bool) -> tuple[int, int]:
    """Row and place, from 1, of number ``index``, from 0, in the left columns (``side``) or in the others. Both are filled row by row
    and independently, so that neither moves when the other grows."""
    width, first = (floor.side, 0) if side else (floor.row_length - floor.side, floor.side)
    return index // width + 1, first + index % width + 1


def starts(lengths: Sequence[int]) -> list[int]:
    """Where each of several sequences begins that follow each other."""
    out = [0]
    for length in lengths:
        out.append(out[-1] + length)
    return out
