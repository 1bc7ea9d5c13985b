"""Ask DeepSpeed: does it take each job's configuration at the job's true size, and read the hosts in the order of the placement?

DeepSpeed passes over much in silence (a misspelt key, an optimizer it does not know); ``rules`` looks at that.
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
from .rules import of_config, of_hostfile, of_plan
from .start import launch, words

_FILES = ("ds_config.json", "hostfile", "job.env", "launch.sh")
READS = tuple(f"training/*/{name}" for name in _FILES)
_LONGEST_S = 300.0


def reads(tree: Path) -> list[str]:
    """Those of READS that are in a job of its own in this tree."""
    return reads_of(tree, _FILES)


def applies(tree: Path) -> bool:
    """True when the tree holds a DeepSpeed job."""
    return any(tree.glob("training/*/ds_config.json"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    return verify_jobs("deepspeed", "deepspeed", "DeepSpeed", _FILES, tree, project, _ask)


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    """What DeepSpeed makes of all jobs, in one start of its interpreter."""
    questions = [
        {
            "config": str(tree / "training" / name / "ds_config.json"),
            "hostfile": str(tree / "training" / name / "hostfile"),
            "world": project.jobs[name].world,
            "data_parallel": project.jobs[name].data_parallel,
            "context": project.jobs[name].spec.context,
        }
        for name in names
    ]
    said, complaint = probe(found.path, "deepspeed_probe.py", json.dumps(questions), env={"DS_ACCELERATOR": "cpu", "OMP_NUM_THREADS": "1"}, timeout=_LONGEST_S)
    if said is None:
        return [finding("deepspeed-refused", f"DeepSpeed did not answer: {complaint[-400:]}")]
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
            try:
                yield from of_config(f"{where}/ds_config.json", config, job.world, said["optimizers"], said["schedulers"])
            except (AttributeError, TypeError) as fault:  # DeepSpeed takes some values of any type until it needs them
                yield finding("deepspeed-refused", f"{where}/ds_config.json has a value of another type: {fault}", job.spec.origin)
    yield from of_hostfile(f"{where}/hostfile", (folder / "hostfile").read_text(encoding="utf-8"), read, placement)
    yield from of_script(f"{where}/launch.sh", folder / "launch.sh", launch(job, placement, project.design))
    yield from of_words(f"{where}/job.env", (folder / "job.env").read_text(encoding="utf-8"), words(job, project.design))
