"""The judges: each module asks one real program about an output tree and turns its answer into a verdict.

Only this package runs programs. A judge works on a copy in a temporary folder and never writes into the tree.
A judge module has ``READS`` (glob patterns of the files that it or its program reads), ``applies(tree)`` and
``verify(tree, project) -> Verdict``; ``slurm`` has one such object for each version. What all share is in ``judging``, ``findings``
and ``script``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from typing import Any

from .verdict import Verdict

JUDGES = {
    "terraform": "terraform",
    "ansible": "ansible",
    "slurm-22.05": "slurm:V22_05",
    "slurm-24.11": "slurm:V24_11",
    "deepspeed": "deepspeed",
    "megatron": "megatron",
    "accelerate": "fsdp.accelerate",
    "torchtitan": "fsdp.torchtitan",
    "torchrun": "launchers.torchrun",
    "openmpi": "launchers.openmpi",
    "dataloader": "dataloader",
    "redis": "caches:REDIS",
    "memcached": "caches:MEMCACHED",
    "nccl": "nccl",
    "opensm": "fabric",
    "simgrid": "fabric.simgrid",
}

OF_PLANS = ("opensm", "simgrid")
"""The judges of a tree without files for hosts: what is planned for accelerators other than NVIDIA's."""


def judge(name: str) -> Any:
    """The judge of that name. Raises KeyError."""
    module, _, attribute = JUDGES[name].partition(":")
    found = import_module(f"{__name__}.{module}")
    return getattr(found, attribute) if attribute else found


def ask(name: str, tree: Path, project: Any) -> Verdict:
    """The verdict of one judge on ``tree``; ``project`` is what the pipeline makes of the tree's own resolved blueprint."""
    if name not in OF_PLANS and any(pool.only_planned for pool in project.design.pools.values()):
        return Verdict(name, name, None, "not-applicable", 0.0)
    return judge(name).verify(tree, project)


def unread(tree: Path) -> list[str]:
    """Files of ``tree`` that no judge reads, relative, sorted."""
    patterns = [pattern for name in JUDGES for pattern in _reads(judge(name), tree)]
    files = sorted(p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file())
    return [path for path in files if not any(fnmatch(path, pattern) for pattern in patterns)]


def _reads(judge: Any, tree: Path) -> Iterable[str]:
    """What a judge reads of this tree: of files that some fabrics have and others not for it, only those of the first."""
    return judge.reads(tree) if hasattr(judge, "reads") else judge.READS


def for_people(path: str) -> bool:
    """Whether a file of a tree is words for its readers, or iacgen's own record: no other program is meant to read it."""
    return path in ("README.md", "report.html", "report.md") or path.startswith(".iacgen/")


def unproven(verdicts: list[Verdict]) -> list[Verdict]:
    """Verdicts that ``--require`` does not accept: refusals, judges that did not run, and those that left a part out.

    A judge of another version than the declared one counts for nothing, but where its sister of the declared version gave a
    proof, nothing is missing.
    """
    proven = {v.judge.split("-")[0] for v in verdicts if v.proves}
    return [v for v in verdicts if v.status in ("failed", "in-part") or (v.status in ("missing", "needs-root", "other-version") and v.judge.split("-")[0] not in proven)]
