"""Ask megatron-core: does the emitted argument file make a model and process groups that are those of the plan?

The values are parsed back out of the file; megatron-core checks them as it builds its configuration, then builds the groups of
several ranks, which are compared with ours. What only Megatron-LM's script would check is in ``rules``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..launch import files, of_script
from ..process import run
from ..verdict import Status, Verdict
from .findings import finding
from .rules import of_arguments, of_environment

READS = ("training/*/megatron.args", "training/*/megatron.env", "training/*/launch.sh")
_FILES = ("megatron.args", "megatron.env", "launch.sh")
_PROBE = Path(__file__).parents[1] / "drivers" / "megatron_probe.py"
_MARK = "PROBE "
_LONGEST_S = 600.0


def applies(tree: Path) -> bool:
    """True when the tree holds a Megatron job."""
    return any(tree.glob("training/*/megatron.args"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    began = time.monotonic()
    status, findings, version = _judge(tree, project)
    return Verdict("megatron", "megatron-core", version, status, time.monotonic() - began, tuple(findings))


def _judge(tree: Path, project: Any) -> tuple[Status, list[Diagnostic], str | None]:
    jobs = [name for name, job in sorted(project.jobs.items()) if job.spec.framework == "megatron"]
    if not jobs and not applies(tree):
        return "not-applicable", [], None
    found = programs.find("megatron")
    if isinstance(found, programs.Missing):
        return "missing", [finding("megatron-not-judged", str(found))], None
    declared = project.design.software.megatron
    if found.version != declared and not found.version.startswith(f"{declared}."):
        why = f"the blueprint declares megatron-core {declared}, and this one is {found.version}"
        return "other-version", [finding("megatron-not-judged", why)], found.version
    findings = list(files(tree, jobs, _FILES))
    if not findings:
        findings = _ask(tree, project, jobs, found)
    return "failed" if findings else "passed", findings, found.version


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    """What megatron-core makes of all jobs, in one start of its interpreter."""
    questions = [
        {"arguments": str(tree / "training" / name / "megatron.args"), "world": project.jobs[name].world, "ranks": sample(project.jobs[name])}
        for name in names
    ]  # fmt: skip
    answer = run([found.path, "-I", _PROBE, json.dumps(questions)], env={"OMP_NUM_THREADS": "1"}, timeout=_LONGEST_S)
    line = next((line for line in answer.out.splitlines() if line.startswith(_MARK)), None)
    if not answer.ok or line is None:
        return [finding("megatron-refused", f"megatron-core did not answer: {(answer.err or answer.out).strip()[-400:]}")]
    findings: list[Diagnostic] = []
    for name, said in zip(names, json.loads(line.removeprefix(_MARK)), strict=True):
        job, folder = project.jobs[name], tree / "training" / name
        findings += _of_core(f"training/{name}/megatron.args", said, job)
        findings += of_arguments(f"training/{name}/megatron.args", said, job, project.design)
        findings += of_environment(f"training/{name}/megatron.env", (folder / "megatron.env").read_text(encoding="utf-8"), job.spec)
        findings += of_script(f"training/{name}/launch.sh", folder / "launch.sh", job, project.placements[name])
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
            ours = list(job.ranks.group_of(int(rank), *family.split("-")))
            if ours != theirs:
                yield finding("group-not-of-placement", f"{name}: megatron-core puts rank {rank} into the {family} group {theirs}, the placement into {ours}", origin)
                return
