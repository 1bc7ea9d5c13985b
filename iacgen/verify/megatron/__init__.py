"""Ask megatron-core: does the emitted argument file make a model and process groups that are those of the plan?

The values are parsed back out of the file; megatron-core checks them as it builds its configuration, then builds the groups of
several ranks, which are compared with ours. What only Megatron-LM's script would check is in ``rules``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import probe
from ..launch import of_script, of_words, reads_of, verify_jobs
from ..verdict import Verdict
from .rules import of_arguments
from .start import environment, launch

_FILES = ("megatron.args", "megatron.env", "launch.sh")
READS = tuple(f"training/*/{name}" for name in _FILES)
_LONGEST_S = 600.0


def reads(tree: Path) -> list[str]:
    """Those of READS that are in a job of its own in this tree."""
    return reads_of(tree, _FILES)


def applies(tree: Path) -> bool:
    """True when the tree holds a Megatron job."""
    return any(tree.glob("training/*/megatron.args"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    return verify_jobs("megatron", "megatron-core", "megatron-core", _FILES, tree, project, _ask)


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    """What megatron-core makes of all jobs, in one start of its interpreter."""
    questions = [
        {"arguments": str(tree / "training" / name / "megatron.args"), "world": project.jobs[name].world, "ranks": sample(project.jobs[name])}
        for name in names
    ]  # fmt: skip
    said, complaint = probe(found.path, "megatron_probe.py", json.dumps(questions), env={"OMP_NUM_THREADS": "1"}, timeout=_LONGEST_S)
    if said is None:
        return [finding("megatron-refused", f"megatron-core did not answer: {complaint[-400:]}")]
    findings: list[Diagnostic] = []
    for name, read in zip(names, said, strict=True):
        job, folder = project.jobs[name], tree / "training" / name
        findings += _of_core(f"training/{name}/megatron.args", read, job)
        findings += of_arguments(f"training/{name}/megatron.args", read, job, project.design)
        findings += of_words(f"training/{name}/megatron.env", (folder / "megatron.env").read_text(encoding="utf-8"), environment(job.spec))
        findings += of_script(f"training/{name}/launch.sh", folder / "launch.sh", launch(job, project.placements[name], project.design))
    return findings


def sample(job: Any) -> list[int]:
    """Ranks whose groups are compared: the ends of the job, the ends of its first node, one in the middle of each half."""
    last = job.world - 1
    return sorted({0, min(job.spec.gpus_per_node - 1, last), last // 4, 3 * last // 4, last})


def _of_core(name: str, said: dict[str, Any], job: Any) -> Iterator[Diagnostic]:
    """megatron-core takes the values; its layers, micro batches and groups are those of the plan."""
    origin = job.spec.origin
    if said["refused"]:
        yield finding("megatron-refused", f"{name}: {said['refused']}", origin)
        return
    layers = [stage.layers for stage in job.memory.stages]
    if said["layers"] != layers:
        yield finding("megatron-not-of-plan", f"{name}: megatron-core builds {said['layers']} layers, but the memory table counts {layers}", origin)
    if said["micro_batches"] != job.micro_batches:
        yield finding("megatron-not-of-plan", f"{name}: {said['micro_batches']} micro batches a step, but the job was planned with {job.micro_batches}", origin)
    for rank, families in said["groups"].items():
        if len(families["dp"]) != job.data_parallel:
            yield finding("megatron-not-of-plan", f"{name}: {len(families['dp'])} copies of the model, but the job was planned with {job.data_parallel}", origin)
            return
        for family, theirs in families.items():
            grid, names = (job.expert_ranks, family.removeprefix("expert-")) if family.startswith("expert-") else (job.ranks, family)
            ours = list(grid.group_of(int(rank), *names.split("-")))
            if ours != theirs:
                yield finding("group-not-of-placement", f"{name}: megatron-core puts rank {rank} into the {family} group {theirs}, the placement into {ours}", origin)
                return
