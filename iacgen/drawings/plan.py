"""The boxes of a picture of a tree, in columns and sections, and the room that they need side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .lots import PAD, Lot
from .picture import text_width
from .view import Bundle, View, bundles

GAP, COLUMN_GAP, SECTION_GAP = 6, 26, 32  # pixels from box to box: in a row, across the frames of columns, of sections
FRAME = 10  # pixels from a frame to what is in it


@dataclass(frozen=True)
class Column:
    """Groups that share a place below the spines, with the boxes of their leaves and hosts; ``pods`` they belong to."""

    label: str
    groups: range
    pods: range
    leaves: tuple[Lot, ...]
    hosts: tuple[Lot, ...]

    @property
    def width(self) -> float:
        """Pixels that its boxes and its label need."""
        leaves = row_width(self.leaves)
        return max(leaves, hosts_width(self.hosts, leaves), text_width(self.label, 11, strong=True) - FRAME)


@dataclass(frozen=True)
class Section:
    """Columns under the same spines: those of a pod or of a run of pods, which a label names, or all."""

    label: str
    columns: tuple[Column, ...]
    spines: tuple[Lot, ...]

    @property
    def inner_width(self) -> float:
        """Pixels that the columns need side by side."""
        return sum(c.width for c in self.columns) + COLUMN_GAP * (len(self.columns) - 1)

    @property
    def nested(self) -> bool:
        """Whether its columns have frames within its own."""
        return bool(self.label) and len(self.columns) > 1

    @property
    def pad(self) -> float:
        """Pixels from its frame to its columns."""
        return (2 if self.nested else 1) * FRAME if self.label else 0

    @property
    def width(self) -> float:
        """Pixels that it needs with its frame."""
        return max(self.inner_width, row_width(self.spines) if self.label else 0) + 2 * self.pad


@dataclass(frozen=True)
class Plan:
    """All boxes of a picture. ``lots`` counts them as the bundles do."""

    view: View
    sections: tuple[Section, ...]
    cores: tuple[Lot, ...]
    managers: tuple[Lot, ...]
    lots: tuple[Lot, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of all sections."""
        return tuple(c for s in self.sections for c in s.columns)

    @property
    def managers_width(self) -> float:
        """Pixels that the manager's hosts take at the left, with the room after them."""
        return sum(lot.label_width + GAP for lot in self.managers) + COLUMN_GAP if self.managers else 0.0

    @property
    def sections_width(self) -> float:
        """Pixels that the managers and the sections need side by side."""
        return self.managers_width + sum(s.width for s in self.sections) + (len(self.sections) - 1) * (SECTION_GAP - 2 * FRAME)

    @property
    def width(self) -> float:
        """Pixels that the boxes need side by side."""
        return max(self.sections_width, row_width(self.cores), *(row_width(s.spines) for s in self.sections))

    @cached_property
    def bundles(self) -> tuple[Bundle, ...]:
        """The links between the boxes."""
        of_switch = np.full(self.view.fabric.switches, -1)
        of_host = np.full(len(self.view.fabric.hosts), -1)
        of_manager = np.full(len(self.view.fabric.manager.hosts) if self.view.fabric.manager else 0, -1)
        for number, lot in enumerate(self.lots):
            {"host": of_host, "manager": of_manager}.get(lot.kind, of_switch)[list(lot.members)] = number
        return tuple(bundles(self.view, of_switch, of_host, of_manager, np.array([lot.single for lot in self.lots])))

    @property
    def most_lines(self) -> int:
        """Lines between the two tiers that have most of them."""
        return max((sum(b.joins == joins for b in self.bundles) for joins in {b.joins for b in self.bundles}), default=0)


def row_width(row: tuple[Lot, ...]) -> float:
    """Pixels of boxes side by side, all as wide as the widest."""
    return len(row) * (max((lot.label_width for lot in row), default=0.0) + GAP) - GAP if row else 0.0


def cells_across(lot: Lot, room: float) -> int:
    """Cells side by side in a box of hosts: as many as there is room for below the leaves, else what fills rows best."""
    count, fit = len(lot.cells), int((room - PAD) // lot.cell_width)
    least = max(1, round(count**0.5))
    if fit > least:
        return min(count, fit)
    return min(range(least, 2 * least), key=lambda across: (-count % across, across))


def hosts_width(row: tuple[Lot, ...], room: float) -> float:
    """Pixels that hosts need below leaves that are ``room`` wide."""
    if len(row) == 1 and row[0].cells:
        return max(row[0].label_width, cells_across(row[0], room) * row[0].cell_width + PAD)
    return row_width(row)
