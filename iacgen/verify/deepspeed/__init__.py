"""Ask DeepSpeed: does it take each job's configuration at the job's true size, and read the hosts in the order of the placement?

DeepSpeed passes over much in silence (a misspelt key, an optimizer it does not know); ``rules`` looks at that.
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
from .rules import of_config, of_hostfile, of_plan, of_words

READS = ("training/*/ds_config.json", "training/*/hostfile", "training/*/job.env", "training/*/launch.sh")
_FILES = ("ds_config.json", "hostfile", "job.env", "launch.sh")
_PROBE = Path(__file__).parents[1] / "drivers" / "deepspeed_probe.py"
_MARK = "PROBE "
_LONGEST_S = 300.0


def applies(tree: Path) -> bool:
    """True when the tree holds a DeepSpeed job."""
    return any(tree.glob("training/*/ds_config.json"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    began = time.monotonic()
    status, findings, version = _judge(tree, project)
    return Verdict("deepspeed", "deepspeed", version, status, time.monotonic() - began, tuple(findings))


def _judge(tree: Path, project: Any) -> tuple[Status, list[Diagnostic], str | None]:
    jobs = [name for name, job in sorted(project.jobs.items()) if job.spec.framework == "deepspeed"]
    if not jobs and not applies(tree):
        return "not-applicable", [], None
    found = programs.find("deepspeed")
    if isinstance(found, programs.Missing):
        return "missing", [finding("deepspeed-not-judged", str(found))], None
    declared = project.design.software.deepspeed
    if found.version != declared and not found.version.startswith(f"{declared}."):
        why = f"the blueprint declares DeepSpeed {declared}, and this one is {found.version}"
        return "other-version", [finding("deepspeed-not-judged", why)], found.version
    findings = list(files(tree, jobs, _FILES))
    if not findings:
        findings = _ask(tree, project, jobs, found)
    return "failed" if findings else "passed", findings, found.version


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    """What DeepSpeed makes of all jobs, in one start of its interpreter."""
    questions = [
        {
            "config": str(tree / "training" / name / "ds_config.json"),
            "hostfile": str(tree / "training" / name / "hostfile"),
            "world": project.jobs[name].world,
            "data_parallel": project.jobs[name].data_parallel,
        }
        for name in names
    ]
    answer = run([found.path, "-I", _PROBE, json.dumps(questions)], env={"DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1"}, timeout=_LONGEST_S)
    line = next((line for line in answer.out.splitlines() if line.startswith(_MARK)), None)
    if not answer.ok or line is None:
        return [finding("deepspeed-refused", f"DeepSpeed did not answer: {(answer.err or answer.out).strip()[-400:]}")]
    said = json.loads(line.removeprefix(_MARK))
    findings: list[Diagnostic] = []
    for name, read in zip(names, said["jobs"], strict=True):
        findings += _of_job(tree / "training" / name, project, name, read, said)
    return findings


def _of_job(folder: Path, project: Any, name: str, read: dict[str, Any], said: dict[str, Any]) -> Iterator[Diagnostic]:
    job, placement, where = project.jobs[name], project.placements[name], f"training/{name}"
    if read["refused"]:
        yield finding("deepspeed-refused", f"{where}/ds_config.json: {read['refused']}", job.spec.origin)
    else:
        for key in read["unread"]:
            yield finding("unread-deepspeed-key", f"{where}/ds_config.json: DeepSpeed never looks at {key}", job.spec.origin)
        for warning in read["warnings"]:
            yield finding("deepspeed-refused", f"{where}/ds_config.json: DeepSpeed warns: {warning}", job.spec.origin)
        yield from of_plan(f"{where}/ds_config.json", read["values"], job)
        try:
            config = json.loads((folder / "ds_config.json").read_text(encoding="utf-8"))
        except json.JSONDecodeError as fault:  # DeepSpeed's reader is laxer than its neighbours
            yield finding("deepspeed-refused", f"{where}/ds_config.json is no JSON: {fault}", job.spec.origin)
        else:
            yield from of_config(f"{where}/ds_config.json", config, job.world, said["optimizers"], said["schedulers"])
    yield from of_hostfile(f"{where}/hostfile", (folder / "hostfile").read_text(encoding="utf-8"), read, placement)
    yield from of_script(f"{where}/launch.sh", folder / "launch.sh", job, placement)
    yield from of_words(f"{where}/job.env", (folder / "job.env").read_text(encoding="utf-8"), job.spec)
