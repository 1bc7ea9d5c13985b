"""Ask Slurm itself: does slurmctld of the declared version start without a complaint, and has it read the tree of the fabric?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import NOT_APPLICABLE, Outcome, timed
from ..readable import unreadable
from ..verdict import Verdict
from .agreement import check_agreement
from .batch import check_script
from .blocks import check_blocks
from .controller import ask_daemons
from .expected import by_block, declared_version, implied, racks, slurm_nodes
from .health import check_health
from .installation import Installation, work_folder
from .policy import check_policy
from .rules import check_batch, check_cgroup_conf, check_gres, check_ranks, check_slurm_conf, check_topology

FILES = ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf")


@dataclass(frozen=True)
class Judge:
    """Slurm of one version. Needs root, a munged on PATH and that Slurm, on PATH or in a tree below IACGEN_SLURM_TREES.

    Everything runs on loopback, in a temporary folder, and ends with the call.
    """

    version: str
    READS: ClassVar[tuple[str, ...]] = (*(f"slurm/{name}" for name in FILES), "slurm/*.ranks", "slurm/*.health", "slurm/*.sbatch")

    @property
    def name(self) -> str:
        """As the command line and the tests call it."""
        return f"slurm-{self.version}"

    def applies(self, tree: Path) -> bool:
        """True when the tree holds Slurm files."""
        return (tree / "slurm" / "slurm.conf").is_file()

    def verify(self, tree: Path, project: Any) -> Verdict:
        """The verdict on ``tree``, of which ``project`` has the ``design`` and the ``placements``."""
        return timed(self.name, "slurmctld", lambda: self._judge(tree, project))

    def _judge(self, tree: Path, project: Any) -> Outcome:
        scheduler = project.design.scheduler
        if scheduler is None:
            return NOT_APPLICABLE
        if scheduler.version != self.version:
            return "other-version", [finding("slurm-not-judged", f"the blueprint declares Slurm {scheduler.version}, and this judge is {self.version}")], None
        found = programs.find(self.name)
        if isinstance(found, programs.Missing):
            return "missing", [finding("slurm-not-judged", str(found))], None
        with work_folder() as work:
            slurm = Installation(work, found.companion)
            if why := slurm.cannot_enter():
                return "needs-root", [finding("slurm-not-judged", why)], None
            if faults := list(unreadable(tree, self.READS, ("slurm/*",))):
                return "failed", faults, found.version
            texts = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in sorted(tree.glob("slurm/*")) if path.is_file()}
            # From what stops a daemon, over what it understands, to what it never reads.
            findings = offline(texts, project) or ask_daemons(slurm, texts, project) or unspoken(texts, project)
        return "failed" if findings else "passed", findings, found.version


V22_05 = Judge("22.05")
V24_11 = Judge("24.11")


def offline(texts: Mapping[str, str], project: Any) -> list[Diagnostic]:
    """What can be said without a daemon about the files of the folder ``slurm`` (name → text)."""
    design = project.design
    version, nodes = declared_version(design), slurm_nodes(design)
    missing = [name for name in FILES if name not in texts]
    missing += [f"{job}.{kind}" for job in project.placements for kind in ("ranks", "health", "sbatch") if f"{job}.{kind}" not in texts]
    if missing:
        return [finding("malformed-slurm-conf", f"slurm/{name} is missing") for name in missing]
    strays = [name for name in texts if name.endswith((".ranks", ".health", ".sbatch")) and name.rpartition(".")[0] not in project.placements]
    out = [finding("batch-script", f"slurm/{name} belongs to no job of the blueprint", ()) for name in strays]
    out += check_slurm_conf(texts["slurm.conf"], version) + check_cgroup_conf(texts["cgroup.conf"])
    if by_block(design):
        out += check_blocks(texts["topology.conf"], nodes, racks(design))
    else:
        out += check_topology(texts["topology.conf"], nodes, version, implied(design).islands)
    if not out:
        out = check_agreement(texts["slurm.conf"], design) + check_gres(texts["gres.conf"], texts["slurm.conf"])
    for job, placement in sorted(project.placements.items()):
        out += check_ranks(texts[f"{job}.ranks"], nodes, placement.hosts, placement.gpus_per_node, job)
        out += check_batch(texts[f"{job}.sbatch"], job)
    return out


def unspoken(texts: Mapping[str, str], project: Any) -> list[Diagnostic]:
    """What is wrong with sound files (name → text) that no daemon ever says."""
    out = check_policy(texts["slurm.conf"], texts["cgroup.conf"], texts["gres.conf"], project.design)
    for job, placement in sorted(project.placements.items()):
        out += check_script(texts[f"{job}.sbatch"], project.jobs[job], placement, project.design)
        out += check_health(texts[f"{job}.health"], project.jobs[job], placement, project.design)
    return out
