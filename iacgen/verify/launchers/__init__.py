"""Launchers beside Slurm: torchrun and Open MPI are asked whether they would put each rank where the placement has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding


def of_hosts(name: str, file: Path, placement: Any) -> Iterator[Diagnostic]:
    """The host file is the placement's, line by line: torchrun's script counts its lines, and Open MPI takes it as it comes."""
    found = file.read_text(encoding="utf-8").split("\n")
    planned = [f"{host} slots={placement.gpus_per_node}" for host in placement.hosts] + [""]
    for number, (theirs, ours) in enumerate(zip(found, planned, strict=False), 1):
        if theirs != ours:
            yield finding("hostfile-not-of-placement", f"{name}:{number}: {theirs!r}, but the placement has {ours!r}")
            return
    if len(found) != len(planned):
        yield finding("hostfile-not-of-placement", f"{name}: {len(found) - 1} lines, but the placement has {len(planned) - 1} hosts")
