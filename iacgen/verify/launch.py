"""What the judges of both training frameworks look at: the files of a job, its launch script, its assignments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from . import programs
from .findings import finding
from .judging import NOT_APPLICABLE, Outcome, declared, timed
from .process import run
from .readable import unreadable
from .script import Step, differences, steps
from .verdict import Verdict

_ASSIGNMENT = re.compile(r"[A-Z_][A-Z0-9_]*=(?:[\w@%+=:,./-]|'[^']*')*", re.ASCII)

Ask = Callable[[Path, Any, list[str], programs.Found], list[Diagnostic]]
"""What a framework has against the files of some jobs: tree, project, names of jobs, program."""


def verify_jobs(framework: str, package: str, product: str, names: Sequence[str], tree: Path, project: Any, ask: Ask) -> Verdict:
    """The verdict on all jobs of one framework. A file whose name is the first of ``names`` marks a job of it in the tree."""

    def asked() -> Outcome:
        jobs = [name for name, job in sorted(project.jobs.items()) if job.spec.framework == framework]
        if not jobs and not any(tree.glob(f"training/*/{names[0]}")):
            return NOT_APPLICABLE
        return declared(framework, product, getattr(project.design.software, framework), lambda found: _offline(tree, jobs, names) or ask(tree, project, jobs, found))

    return timed(framework, package, asked)


def verify_files(judge: str, program: str, names: Sequence[str], belongs: Callable[[Any], bool], tree: Path, project: Any, ask: Ask) -> Verdict:
    """The verdict on files of jobs whose reader has no declared version. ``belongs`` says which jobs have them, ``names`` which these are."""

    def asked() -> Outcome:
        jobs = [name for name, job in sorted(project.jobs.items()) if belongs(job)]
        if not jobs and not any(tree.glob(f"training/*/{names[0]}")):
            return NOT_APPLICABLE
        found = programs.find(judge)
        if isinstance(found, programs.Missing):
            return "missing", [finding(f"{judge}-not-judged", str(found))], None
        findings = _offline(tree, jobs, names) or ask(tree, project, jobs, found)
        return "failed" if findings else "passed", findings, found.version

    return timed(judge, program, asked)


def _offline(tree: Path, jobs: Sequence[str], names: Sequence[str]) -> list[Diagnostic]:
    """What needs no program: files that are missing, of no job, or no text."""
    return list(files(tree, jobs, names)) or list(unreadable(tree, [f"training/*/{name}" for name in names]))


def files(tree: Path, jobs: Sequence[str], names: Sequence[str]) -> Iterator[Diagnostic]:
    """Each job has its files; a file whose name is the first of ``names`` belongs to one of ``jobs``."""
    for job in jobs:
        for name in names:
            if not (tree / "training" / job / name).is_file():
                yield finding("training-file-missing", f"training/{job}/{name} is missing")
    for path in sorted(tree.glob(f"training/*/{names[0]}")):
        if path.parent.name not in jobs:
            yield finding("training-file-missing", f"{path.relative_to(tree).as_posix()} belongs to no such job of the blueprint")


def reads_of(tree: Path, names: Sequence[str]) -> list[str]:
    """The files of the jobs that a judge knows by the first of ``names``: others have files of the same names, and nobody here to read them."""
    return [f"training/{mark.parent.name}/{name}" for mark in tree.glob(f"training/*/{names[0]}") for name in names]


def of_script(name: str, script: Path, planned: Sequence[Step]) -> Iterator[Diagnostic]:
    """The script is shell and takes the planned steps, no others. It is parsed, never run."""
    syntax = run(["bash", "-n", script])
    if not syntax.ok:
        yield finding("launch-not-of-plan", f"{name}: {syntax.err.strip()}")
    for difference in differences(script.read_text(encoding="utf-8", errors="replace"), planned):
        yield finding("launch-not-of-plan", f"{name}: {difference}")


def to_a_rank(job: Any, placement: Any, pool: str) -> tuple[Step, ...]:
    """The first steps of every launch script: where it lies, NCCL's file of the job's pool, a rank's names, the planned size."""
    return (
        Step("set -euo pipefail", "a step that fails must end the rank"),
        Step(f"""die() {{ printf '%s: %s\\n' {job.name} "$*" >&2; exit 1; }}""", "a rank that cannot start must say why and end"),
        *steps(
            """
            here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
            cluster=${here%/training/*}
            """,
            "its own files are found from where it lies",
        ),
        *steps(
            f"""
            source_nccl() {{
            local file
            for file in "$cluster"/nccl/nccl.sh "$cluster"/nccl/{pool}/nccl.sh; do
            if [[ -r $file ]]; then . "$file"; return; fi
            done
            die "none"
            }}
            """,
            f"without NCCL's file, that of pool {pool}, NCCL takes any adapter",
        ),
        *steps(
            f"""
            rank_from_slurm() {{
            [[ -n ${{MASTER_ADDR:-}} ]] || die "no address"
            ((SLURM_NTASKS == {job.world})) || die "another size"
            export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE={placement.gpus_per_node}
            export MASTER_ADDR MASTER_PORT="${{MASTER_PORT:-29500}}"
            }}
            rank_from_mpi() {{
            export RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK WORLD_SIZE=$OMPI_COMM_WORLD_SIZE LOCAL_WORLD_SIZE={placement.gpus_per_node}
            export MASTER_ADDR={placement.hosts[0]} MASTER_PORT="${{MASTER_PORT:-29500}}"
            }}
            find_rank() {{
            if [[ -n ${{OMPI_COMM_WORLD_RANK:-}} ]]; then
            rank_from_mpi
            elif [[ -n ${{SLURM_PROCID:-}} && -z ${{TORCHELASTIC_RUN_ID:-}} ]]; then
            rank_from_slurm
            fi
            [[ -z ${{RANK:-}} ]] || ((WORLD_SIZE == {job.world})) || die "another size"
            }}
            """,
            f"the job was planned for {job.world} ranks, in the order of the launcher's numbers, rank 0 on {placement.hosts[0]}",
        ),
    )


def handed_on() -> tuple[Step, ...]:
    """What goes along to other hosts, where the launcher is not srun."""
    return steps(
        """
        handed_on() {
        local name
        for name in $(compgen -e); do
        case " ${HAND_ON:-} " in *" $name "*) printf '%s\\n' "$name"; continue ;; esac
        case $name in
        *TOKEN* | *SECRET* | *PASSWORD* | *_KEY) ;;
        PATH | LD_LIBRARY_PATH | LD_PRELOAD | VIRTUAL_ENV | CONDA_PREFIX | PYTHON* | MASTER_PORT | CUDA_HOME | CUDA_DEVICE_MAX_CONNECTIONS) printf '%s\\n' "$name" ;;
        NCCL_* | FI_* | UCX_* | GLOO_* | TORCH* | PYTORCH_* | TRITON_* | NVTE_* | OMP_* | HF_* | TRANSFORMERS_*) printf '%s\\n' "$name" ;;
        esac
        done
        }
        """,
        "the ranks of other hosts must find the same programs, and their rank 0 the same port",
    )


def exported(file: str, why: str) -> tuple[Step, ...]:
    """NCCL's file is sourced, then a file of assignments beside the script, which are all exported."""
    return (
        Step("source_nccl", "without NCCL's file NCCL takes any adapter"),
        Step("set -a", "what is assigned must be exported"),
        Step(f'. "$here/{file}"', why),
        Step('. "$here/data.env"', "without data.env a rank reads its data with other settings than were planned"),
        Step("set +a", "no more is exported"),
    )


def assignments(name: str, text: str) -> tuple[dict[str, str], list[Diagnostic]]:
    """Name and value of each line of a file that a script sources; a line that is more than one literal word is a fault."""
    found, faults = {}, []
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        if not _ASSIGNMENT.fullmatch(line):
            faults.append(finding("launch-not-of-plan", f"{name}:{number}: no assignment of one word"))
            continue
        key, _, value = line.partition("=")
        if key in found:
            faults.append(finding("launch-not-of-plan", f"{name}:{number}: {key} a second time; the last value wins"))
        found[key] = value
    return found, faults


def of_words(name: str, text: str, planned: Mapping[str, str]) -> Iterator[Diagnostic]:
    """A file of assignments says what was planned, no more and no less."""
    words, faults = assignments(name, text)
    yield from faults
    for key in [*planned, *sorted(words.keys() - planned.keys())]:
        if words.get(key) != planned.get(key):
            yield finding("launch-not-of-plan", f"{name}: {key} is {words.get(key, 'not set')}, but the job was planned with {planned.get(key, 'none')}")


def data_and_saves(job: Any, design: Any) -> dict[str, object]:
    """What job.env must say of the data, of where saves go, how often they come and how the end is told: name → value."""
    spec = job.spec
    out: dict[str, object] = {}
    if spec.data_path:
        out["TRAIN_DATA"] = spec.data_path
    if mount := getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None):
        out["TRAIN_CHECKPOINTS"] = f"{mount}/checkpoints/{job.name}"
    if job.checkpoints:
        out |= {"TRAIN_SAVE_INTERVAL": job.checkpoints.steps, "TRAIN_STOP_SIGNAL": "TERM"}
    return out
