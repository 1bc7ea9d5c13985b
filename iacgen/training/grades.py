"""How fast a store is beside the grades that NVIDIA gives to the stores of DGX SuperPODs."""

from __future__ import annotations

from typing import Literal

Direction = Literal["read", "write"]

UNIT_NODES = 32
"""Nodes of a scalable unit."""

GRADES: dict[Direction, dict[str, tuple[float, float]]] = {
    "read": {"good": (15e9, 60e9), "better": (40e9, 160e9), "best": (125e9, 500e9)},
    "write": {"good": (7e9, 30e9), "better": (20e9, 80e9), "best": (62e9, 250e9)},
}
"""Bytes per second for one scalable unit and for four (DGX SuperPOD H100 reference architecture RA-11333-001 V11, table 6)."""


def offered(grade: str, direction: Direction, nodes: int) -> float:
    """Bytes per second that a store of a grade offers to ``nodes`` nodes: on the line between the two rows of the table, and in
    proportion to the nodes below the first and above the second."""
    one, four = GRADES[direction][grade]
    units = nodes / UNIT_NODES
    if units <= 1:
        return one * units
    return one + (four - one) * (units - 1) / 3 if units < 4 else four * units / 4


def grade_needed(bytes_per_s: float, direction: Direction, nodes: int) -> str | None:
    """The lowest grade that offers this rate to ``nodes`` nodes; None where not even the highest does."""
    return next((grade for grade in GRADES[direction] if offered(grade, direction, nodes) >= bytes_per_s), None)
