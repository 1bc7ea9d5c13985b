"""Ask NCCL itself: does libnccl read back every value, does it know every name, and do the four dialects say the same?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import NOT_APPLICABLE, Outcome, declared, timed
from ..readable import unreadable
from ..verdict import Verdict
from .acceptance import of_jobs
from .dialects import Values, conf, lines, shell
from .library import ask
from .rules import of_design, of_dialect

_FILES = {"nccl.conf": conf, "nccl.sh": shell, "container.env": lines}
_OF_JOBS = ".deepspeed_env"
READS = (*(f"{folder}/{name}" for folder in ("nccl", "nccl/*") for name in _FILES), f"training/*/{_OF_JOBS}", "nccl/acceptance-*.sbatch")


def applies(tree: Path) -> bool:
    """True when the tree holds files of NCCL."""
    return (tree / "nccl").is_dir() or any(tree.glob(f"training/*/{_OF_JOBS}"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""

    def asked() -> Outcome:
        if not applies(tree) and not any(pool.system.gpus for pool in project.design.pools.values()):
            return NOT_APPLICABLE
        return declared("nccl", "NCCL", project.design.software.nccl, lambda found: list(unreadable(tree, READS)) or list(_judge(tree, project, found)))

    return timed("nccl", "libnccl", asked)


def _judge(tree: Path, project: Any, found: programs.Found) -> Iterator[Diagnostic]:
    pools = [pool.name for pool in project.design.pools.values() if pool.system.gpus]
    # Pools whose hosts need different values have a folder each.
    folders = {pool: f"nccl/{pool}" if (tree / "nccl" / pool).is_dir() else "nccl" for pool in pools}
    yield from _strays(tree, set(folders.values()))
    by_pool: dict[str, Values] = {}
    for folder in sorted(set(folders.values())):
        here = [pool for pool in pools if folders[pool] == folder]
        values, findings = _folder(tree, folder, here, project.design, found)
        yield from findings
        by_pool |= {} if values is None else dict.fromkeys(here, values)
    yield from _jobs(tree, project, by_pool)
    yield from of_jobs(tree, project.design)


def _strays(tree: Path, folders: set[str]) -> Iterator[Diagnostic]:
    """Files of no pool. One beside the folders of pools would be taken first by every launch script."""
    for path in sorted(path.relative_to(tree) for name in _FILES for path in (*tree.glob(f"nccl/{name}"), *tree.glob(f"nccl/*/{name}"))):
        if path.parent.as_posix() not in folders:
            yield finding("nccl-file-missing", f"{path.as_posix()} belongs to no pool of the blueprint")


def _folder(tree: Path, folder: str, pools: list[str], design: Any, found: programs.Found) -> tuple[Values | None, list[Diagnostic]]:
    """The values of one folder, after its nccl.conf, None where that cannot be read; and what is wrong on the hosts of ``pools``."""
    missing = [name for name in _FILES if not (tree / folder / name).is_file()]
    if missing:
        return None, [finding("nccl-file-missing", f"{folder}/{name} is missing") for name in missing]
    read = {name: reader(f"{folder}/{name}", (tree / folder / name).read_text(encoding="utf-8", errors="replace")) for name, reader in _FILES.items()}
    findings = [fault for _, faults in read.values() for fault in faults]
    values, wrong = read["nccl.conf"]
    if wrong:
        return None, findings
    said, unread = ask(f"{folder}/nccl.conf", (tree / folder / "nccl.conf").read_bytes(), values, found)
    findings += said
    for pool in pools:
        findings += of_design(design, pool, f"{folder}/nccl.conf", values, unread)
        for name, (others, faults) in read.items():
            if name != "nccl.conf" and not faults:
                findings += of_dialect(design, pool, f"{folder}/{name}", others, values)
    return values, list(dict.fromkeys(findings))  # pools of one folder say the same


def _jobs(tree: Path, project: Any, by_pool: dict[str, Values]) -> Iterator[Diagnostic]:
    """Each DeepSpeed job has its file, of its pool's values, in the form that DeepSpeed's launcher survives; no other folder has one."""
    jobs = sorted(name for name, job in project.jobs.items() if job.spec.framework == "deepspeed")
    for path in sorted(path.relative_to(tree) for path in tree.glob(f"training/*/{_OF_JOBS}")):
        if path.parent.name not in jobs:
            yield finding("nccl-file-missing", f"{path.as_posix()} belongs to no DeepSpeed job of the blueprint")
    for job in jobs:
        name = f"training/{job}/{_OF_JOBS}"
        if not (tree / name).is_file():
            yield finding("nccl-file-missing", f"{name} is missing")
            continue
        values, faults = lines(name, (tree / name).read_text(encoding="utf-8", errors="replace"))
        pool = project.design.pool_of(project.placements[job].hosts[0]).name
        yield from faults
        if pool in by_pool and not faults:
            yield from of_dialect(project.design, pool, name, values, by_pool[pool])
