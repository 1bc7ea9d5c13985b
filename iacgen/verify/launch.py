"""What the judges of both training frameworks look at: the files of a job, its launch script, its assignments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

from .process import run

_IDS = {"training-file-missing": "IAC886", "launch-not-of-plan": "IAC887"}
_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=(?:[\w@%+=:,./-]|'[^']*')*", re.ASCII)


def finding(slug: str, message: str, path: BlueprintPath = ()) -> Diagnostic:
    """An error with the id that belongs to ``slug``."""
    return Diagnostic(_IDS[slug], slug, "error", message, path)


def files(tree: Path, jobs: Sequence[str], names: Sequence[str]) -> Iterator[Diagnostic]:
    """Each job has its files; a file whose name is the first of ``names`` belongs to one of ``jobs``."""
    for job in jobs:
        for name in names:
            if not (tree / "training" / job / name).is_file():
                yield finding("training-file-missing", f"training/{job}/{name} is missing")
    for path in sorted(tree.glob(f"training/*/{names[0]}")):
        if path.parent.name not in jobs:
            yield finding("training-file-missing", f"{path.relative_to(tree).as_posix()} belongs to no such job of the blueprint")


def of_script(name: str, script: Path, job: Any, placement: Any) -> Iterator[Diagnostic]:
    """The script is shell, and for this many ranks and this first host. It is parsed, never run."""
    syntax = run(["bash", "-n", script])
    if not syntax.ok:
        yield finding("launch-not-of-plan", f"{name}: {syntax.err.strip()}")
    text = script.read_text(encoding="utf-8")
    for pattern, planned in ((r"SLURM_NTASKS == ([0-9]+)", str(job.world)), (r"--master_addr (\S+)", placement.hosts[0])):
        for found in re.findall(pattern, text):
            if found != planned:
                yield finding("launch-not-of-plan", f"{name}: {found} where the plan has {planned}")


def assignments(name: str, text: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Name and value of each line of a file that a script sources; a line that is more than one literal word is a fault."""
    found, faults = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if not _ASSIGNMENT.fullmatch(line):
            faults.append(finding("launch-not-of-plan", f"{name}:{number}: no assignment of one word"))
            continue
        key, _, value = line.partition("=")
        found[key] = value
    return found, faults
