"""The memory table as plain text, for terminals, reports and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iacgen.training.memory import GIB, LINES
from iacgen.units import gib

if TYPE_CHECKING:
    from iacgen.training.memory import MemoryTable, StageMemory

MEANING = {
    "weights": "weights, bf16",
    "gradients": "gradients",
    "optimizer": "optimizer: fp32 weights, two moments",
    "step": "optimizer step",
    "buffers": "communication buffers",
    "working": "layer in its backward pass",
    "logits": "logits and their gradient",
    "activations": "stored activations",
    "total": "sum",
}
"""What the lines of a memory table are, in words."""


def table_text(table: MemoryTable) -> str:
    """GiB on each GPU, a column for each stage that says something; the line that breaks the job is marked."""
    stages = telling_stages(table)
    rows = [(MEANING[line], *(_number(getattr(stage, line)) for stage in stages)) for line in (*LINES, "total")]
    rows.insert(0, ("GiB on each GPU", *(f"stage {stage.stage}" for stage in stages)))
    rows.append(("room", *(_number(table.capacity) for _ in stages)))
    notes = {MEANING[table.breaking_line]: "  <- breaks"} if table.breaking_line else {}
    notes["room"] = f"  ({gib(table.memory_bytes)} less {gib(table.context_bytes)} kept free)"
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        row[0].ljust(widths[0]) + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)) + notes.get(row[0], "")
        for row in rows
    )  # fmt: skip


def telling_stages(table: MemoryTable) -> tuple[StageMemory, ...]:
    """All stages when there are at most four; else the first two, the worst and the last, since stages shrink in between."""
    last = len(table.stages) - 1
    chosen = {0, 1, table.worst.stage, last} if last > 3 else set(range(last + 1))
    return tuple(table.stages[i] for i in sorted(chosen))


def _number(count: int) -> str:
    return f"{count / GIB:.1f}"
