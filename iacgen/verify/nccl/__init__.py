"""Ask NCCL itself: does libnccl read back every value, does it know every name, and do the four dialects say the same?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..verdict import Status, Verdict
from .dialects import Values, conf, lines, shell
from .findings import finding
from .library import ask
from .rules import agree, of_design

READS = ("nccl/*", "training/*/.deepspeed_env")


def applies(tree: Path) -> bool:
    """True when the tree holds files of NCCL."""
    return (tree / "nccl").is_dir() or any(tree.glob("training/*/.deepspeed_env"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    began = time.monotonic()
    status, findings, version = _judge(tree, project)
    return Verdict("nccl", "libnccl", version, status, time.monotonic() - began, tuple(findings))


def _judge(tree: Path, project: Any) -> tuple[Status, list[Diagnostic], str | None]:
    if not applies(tree):
        return "not-applicable", [], None
    found = programs.find("nccl")
    if isinstance(found, programs.Missing):
        return "missing", [finding("nccl-not-judged", str(found))], None
    declared = project.design.software.nccl
    if found.version != declared and not found.version.startswith(f"{declared}."):
        why = f"the blueprint declares NCCL {declared}, and this library is {found.version}"
        return "other-version", [finding("nccl-not-judged", why)], found.version
    findings: list[Diagnostic] = []
    pools = {pool.name: _folder(tree, pool.name) for pool in project.design.pools.values() if pool.system.gpus}
    read: dict[str, Values] = {}
    for folder in sorted(set(pools.values())):
        read[folder], found_there = _read(tree, folder, found)
        findings += found_there
    for pool, folder in pools.items():
        findings += of_design(project.design, pool, f"{folder}/nccl.conf", read[folder])
    findings += _jobs(tree, project, {pool: read[folder] for pool, folder in pools.items()})
    return "failed" if findings else "passed", findings, found.version


def _folder(tree: Path, pool: str) -> str:
    """Where the files of a pool lie: in a folder of its own, if the pools differ."""
    return f"nccl/{pool}" if (tree / "nccl" / pool).is_dir() else "nccl"


def _read(tree: Path, folder: str, found: programs.Found) -> tuple[Values, list[Diagnostic]]:
    """The values of one folder, after its nccl.conf, and what is wrong with its files."""
    missing = [name for name in ("nccl.conf", "nccl.sh", "container.env") if not (tree / folder / name).is_file()]
    if missing:
        return {}, [finding("nccl-file-missing", f"{folder}/{name} is missing") for name in missing]
    file = tree / folder / "nccl.conf"
    values, findings = conf(f"{folder}/nccl.conf", file.read_text(encoding="utf-8"))
    if not findings:
        findings += ask(f"{folder}/nccl.conf", file.read_bytes(), values, found)
    for name, reader in (("nccl.sh", shell), ("container.env", lines)):
        others, wrong = reader(f"{folder}/{name}", (tree / folder / name).read_text(encoding="utf-8"))
        findings += wrong or agree(f"{folder}/{name}", others, values)
    return values, findings


def _jobs(tree: Path, project: Any, by_pool: dict[str, Values]) -> list[Diagnostic]:
    """Each DeepSpeed job has its file, of its pool's values, in the form that DeepSpeed's launcher survives."""
    findings: list[Diagnostic] = []
    for job, placement in sorted(project.placements.items()):
        if project.jobs[job].spec.framework != "deepspeed":
            continue
        name = f"training/{job}/.deepspeed_env"
        if not (tree / name).is_file():
            findings.append(finding("nccl-file-missing", f"{name} is missing"))
            continue
        values, wrong = lines(name, (tree / name).read_text(encoding="utf-8"))
        findings += wrong or agree(name, values, by_pool[project.design.pool_of(placement.hosts[0]).name])
    return findings
