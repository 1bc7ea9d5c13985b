"""Ask bash and PyTorch: is the file of a job's data what a shell sources, and does torch's DataLoader take its settings on a rank's processors?

Of tf.data only the shell's part is judged, of the copy before the start that it is shell and does the planned steps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import NOT_APPLICABLE, Outcome, probe, timed
from ..launch import assignments
from ..process import run
from ..readable import unreadable
from ..script import differences
from ..verdict import Verdict
from .plan import copying, words

READS = ("training/*/data.env", "training/*/stage.sh")
_LONGEST_S = 300.0


def applies(tree: Path) -> bool:
    """True when the tree holds settings of a loader."""
    return any(tree.glob("training/*/data.env"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    return timed("dataloader", "torch", lambda: _judge(tree, project))


def _judge(tree: Path, project: Any) -> Outcome:
    if not project.jobs and not applies(tree):
        return NOT_APPLICABLE
    found = programs.find("dataloader")
    if isinstance(found, programs.Missing):
        return "missing", [finding("dataloader-not-judged", str(found))], None
    findings = list(_files(tree, project)) or list(unreadable(tree, READS))
    if not findings:
        findings = [f for name, job in sorted(project.jobs.items()) for f in _of_job(tree / "training" / name, job, project.design)]
    if not findings:
        findings = list(_asked(tree, project, found))
    return "failed" if findings else "passed", findings, found.version


def _files(tree: Path, project: Any) -> Iterator[Diagnostic]:
    """Each job has its files, and each file its job."""
    for name, job in sorted(project.jobs.items()):
        for file, wanted in (("data.env", True), ("stage.sh", job.reading.input.stage is not None)):
            if wanted and not (tree / "training" / name / file).is_file():
                yield finding("training-file-missing", f"training/{name}/{file} is missing")
    for pattern in READS:
        for path in sorted(tree.glob(pattern)):
            job = project.jobs.get(path.parent.name)
            if job is None or (path.name == "stage.sh" and job.reading.input.stage is None):
                yield finding("training-file-missing", f"{path.relative_to(tree).as_posix()} belongs to no such job of the blueprint")


def _of_job(folder: Path, job: Any, design: Any) -> Iterator[Diagnostic]:
    """What needs no PyTorch: the words are those of the plan, each a literal assignment, and the copy does the planned steps."""
    name, planned = f"training/{job.name}/data.env", words(job, design)
    found, faults = assignments(name, (folder / "data.env").read_text(encoding="utf-8"))
    yield from faults
    for key in [*planned, *sorted(found.keys() - planned.keys())]:
        if found.get(key) != planned.get(key):
            yield finding("launch-not-of-plan", f"{name}: {key} is {found.get(key, 'not set')}, but the job was planned with {planned.get(key, 'none')}")
    if job.reading.input.stage:
        script = folder / "stage.sh"
        syntax = run(["bash", "-n", script])
        if not syntax.ok:
            yield finding("launch-not-of-plan", f"training/{job.name}/stage.sh: {syntax.err.strip()}")
        for difference in differences(script.read_text(encoding="utf-8"), copying(job)):
            yield finding("launch-not-of-plan", f"training/{job.name}/stage.sh: {difference}")


def _asked(tree: Path, project: Any, found: programs.Found) -> Iterator[Diagnostic]:
    """Each file as bash sources it, and what torch makes of it. Only literal assignments come this far, so that nothing else runs."""
    for name, job in sorted(project.jobs.items()):
        file = tree / "training" / name / "data.env"
        shell = run(["env", "-i", "bash", "-c", 'set -euo pipefail; set -a; . "$1"; set +a; env -0', "bash", file])
        got = dict(word.partition("=")[::2] for word in shell.out.split("\0") if word)
        got = {key: value for key, value in got.items() if key.startswith(("TRAIN_", "OMP_"))}
        meant = {key: value.strip("'") for key, value in words(job, project.design).items()}
        if not shell.ok or got != meant:
            yield finding("launch-not-of-plan", f"training/{name}/data.env: bash reads {got or shell.err.strip()}, where {meant} is meant", job.spec.origin)
            continue
        if "TRAIN_LOADER_WORKERS" not in got:
            continue
        question = {"batch": got["TRAIN_LOADER_BATCH"], "workers": got["TRAIN_LOADER_WORKERS"], "prefetch": got["TRAIN_LOADER_PREFETCH"], "cpus": job.reading.cpus}
        said, complaint = probe(found.path, "dataloader_probe.py", json.dumps(question), env={k: v for k, v in got.items() if k == "OMP_NUM_THREADS"}, timeout=_LONGEST_S)
        if said is None:
            yield finding("dataloader-refused", f"training/{name}/data.env: torch did not answer: {complaint[-400:]}", job.spec.origin)
            continue
        for complaint in said["complaints"]:
            yield finding("dataloader-refused", f"training/{name}/data.env: torch says: {complaint}", job.spec.origin)
        if said["threads"] != min(int(got.get("OMP_NUM_THREADS", said["threads"])), said["here"]):  # no more than this machine has
            yield finding("dataloader-refused", f"training/{name}/data.env: torch uses {said['threads']} threads, not OMP_NUM_THREADS={got['OMP_NUM_THREADS']}", job.spec.origin)
