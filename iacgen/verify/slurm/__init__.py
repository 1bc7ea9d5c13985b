"""Ask Slurm itself: does slurmctld of the declared version start without a complaint, and has it read the tree of the fabric?"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..verdict import Status, Verdict
from .controller import ask_daemons
from .expected import declared_version, implied, slurm_nodes
from .findings import finding
from .installation import Installation, work_folder
from .rules import check_gres, check_ranks, check_slurm_conf, check_topology

READS = ("slurm/slurm.conf", "slurm/gres.conf", "slurm/cgroup.conf", "slurm/topology.conf", "slurm/*.ranks", "slurm/*.sbatch")
JUDGES = ("slurm-22.05", "slurm-24.11")


def applies(tree: Path) -> bool:
    """True when the tree holds Slurm files."""
    return (tree / "slurm" / "slurm.conf").is_file()


def verify(tree: Path, project: Any, judge: str | None = None) -> Verdict:
    """The verdict of ``judge``, one of :data:`JUDGES`; by default of the one for the version that the blueprint declares.

    ``project`` has ``design`` and ``placements``. Needs root, a munged on PATH and Slurm of that version; everything runs on
    loopback, in a temporary folder, and ends with the call.
    """
    began = time.monotonic()
    scheduler = project.design.scheduler
    judge = judge or (f"slurm-{scheduler.version}" if scheduler else JUDGES[-1])

    def verdict(status: Status, findings: list[Diagnostic], version: str | None = None) -> Verdict:
        return Verdict(judge, "slurmctld", version, status, time.monotonic() - began, tuple(findings))

    if not applies(tree) or scheduler is None:
        return verdict("not-applicable", [])
    if judge != f"slurm-{scheduler.version}":
        return verdict("other-version", [finding("slurm-not-judged", f"the blueprint declares Slurm {scheduler.version}; this judge is of {judge.removeprefix('slurm-')}")])
    found = programs.find(judge)
    if isinstance(found, programs.Missing):
        return verdict("missing", [finding("slurm-not-judged", str(found))])
    with work_folder() as work:
        slurm = Installation(work, found.companion)
        if why := slurm.cannot_enter():
            return verdict("needs-root", [finding("slurm-not-judged", why)])
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((tree / "slurm").iterdir()) if path.is_file()}
        findings = offline(texts, project) or ask_daemons(slurm, texts, project)
    return verdict("failed" if findings else "passed", findings, found.version)


def offline(texts: Mapping[str, str], project: Any) -> list[Diagnostic]:
    """What can be said without a daemon about the files of the folder ``slurm`` (name → text)."""
    design = project.design
    version, nodes = declared_version(design), slurm_nodes(design)
    missing = [name for name in ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf") if name not in texts]
    missing += [f"{job}.{kind}" for job in project.placements for kind in ("ranks", "sbatch") if f"{job}.{kind}" not in texts]
    if missing:
        return [finding("malformed-slurm-conf", f"slurm/{name} is missing") for name in missing]
    out = check_slurm_conf(texts["slurm.conf"], version)
    out += check_topology(texts["topology.conf"], nodes, version, implied(design).islands)
    out += [] if out else check_gres(texts["gres.conf"], texts["slurm.conf"])
    for job, placement in sorted(project.placements.items()):
        out += check_ranks(texts[f"{job}.ranks"], nodes, placement.hosts, placement.gpus_per_node, job)
    return out
