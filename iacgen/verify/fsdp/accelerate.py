"""Ask Accelerate: does its own loader take the file, and would its launcher tell a rank what ``job.env`` tells it?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import probe
from ..launch import assignments, of_script, of_words, reads_of, verify_files
from ..verdict import Verdict
from .plan import launch, on_accelerate, shards, words

_FILES = ("accelerate.yaml", "job.env", "launch.sh")
READS = tuple(f"training/*/{name}" for name in _FILES)
_LONGEST_S = 180.0
_PASSES = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"
_ACCELERATE = ("ACCELERATE_", "FSDP_", "PARALLELISM_CONFIG_")


def reads(tree: Path) -> list[str]:
    """Those of READS that are in a job of its own in this tree."""
    return reads_of(tree, _FILES)


def applies(tree: Path) -> bool:
    """True when the tree holds a job for Accelerate."""
    return any(tree.glob("training/*/accelerate.yaml"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    return verify_files("accelerate", "accelerate", _FILES, on_accelerate, tree, project, _ask)


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    questions = []
    for name in names:
        told, _ = assignments(name, (tree / "training" / name / "job.env").read_text(encoding="utf-8"))
        questions.append([str(tree / "training" / name / "accelerate.yaml"), told.get(_PASSES)])
    said, complaint = probe(found.path, "accelerate_probe.py", json.dumps(questions), env={"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": ""}, timeout=_LONGEST_S)
    if said is None:
        return [finding("accelerate-refused", f"Accelerate did not answer: {complaint[-400:]}")]
    findings: list[Diagnostic] = []
    for name, read in zip(names, said, strict=True):
        job, placement, folder, where = project.jobs[name], project.placements[name], tree / "training" / name, f"training/{name}"
        findings += _of_plan(f"{where}/accelerate.yaml", read, job, placement)
        findings += of_environment(f"{where}/job.env", (folder / "job.env").read_text(encoding="utf-8"), read, words(job, project.design))
        findings += of_script(f"{where}/launch.sh", folder / "launch.sh", launch(job, placement, project.design))
    return findings


def _of_plan(name: str, read: dict[str, Any], job: Any, placement: Any) -> Iterator[Diagnostic]:
    """The values as Accelerate's launcher holds them are those of the plan."""
    if read["refused"]:
        yield finding("accelerate-refused", f"{name}: {read['refused']}", job.spec.origin)
        return
    spec, told = job.spec, read["environment"]
    copies, parts = shards(spec)
    meshed = copies * spec.context * spec.tensor > 1
    planned = {
        "ACCELERATE_USE_FSDP": "true", "ACCELERATE_MIXED_PRECISION": "bf16", "FSDP_VERSION": "2",
        "FSDP_RESHARD_AFTER_FORWARD": str(spec.zero == 3).lower(), "FSDP_OFFLOAD_PARAMS": str(spec.offload_weights == "cpu").lower(),
        "FSDP_ACTIVATION_CHECKPOINTING": str(spec.recompute == "full").lower(),
        "PARALLELISM_CONFIG_DP_REPLICATE_SIZE": str(copies) if meshed else None, "PARALLELISM_CONFIG_DP_SHARD_SIZE": str(parts) if meshed else None,
        "PARALLELISM_CONFIG_CP_SIZE": str(spec.context) if meshed else None, "PARALLELISM_CONFIG_TP_SIZE": str(spec.tensor) if meshed else None,
    }  # fmt: skip
    for key, value in planned.items():
        if told.get(key) != value:
            yield finding("sharding-not-of-plan", f"{name}: {key} becomes {told.get(key)}, but the job was planned with {value}", spec.origin)
    if read["accumulation"] != job.micro_batches:
        yield finding("sharding-not-of-plan", f"{name}: with {_PASSES} of job.env Accelerate takes {read['accumulation']} passes before a step, but the job was planned with {job.micro_batches}", spec.origin)
    nodes = len(placement.hosts)
    start = {"nproc_per_node": str(placement.gpus_per_node)}
    if nodes > 1:
        start |= {"nnodes": str(nodes), "rdzv_endpoint": f"{placement.hosts[0]}:29500", "rdzv_backend": "static"}
    for key, value in start.items():
        if read["torchrun"][key] != value:
            yield finding("rank-not-of-placement", f"{name}: Accelerate hands torchrun {key} {read['torchrun'][key]}, but the placement has {value}", spec.origin)


def of_environment(name: str, text: str, read: dict[str, Any], planned: dict[str, str]) -> Iterator[Diagnostic]:
    """``job.env`` says the plan in words, and of Accelerate's variables only what its launcher would say."""
    found, faults = assignments(name, text)
    if faults or read["refused"]:
        yield from faults
        return
    own = {key: value for key, value in found.items() if key.startswith(_ACCELERATE)}
    yield from of_words(name, "\n".join(f"{key}={value}" for key, value in found.items() if key not in own), planned)
    told = read["environment"]
    for key, value in own.items():
        if key != _PASSES and told.get(key) != value:
            yield finding("sharding-not-of-plan", f"{name}: {key} is {value}; by accelerate.yaml Accelerate's launcher says {told.get(key, 'nothing')}")
    for key in ("ACCELERATE_USE_FSDP", "ACCELERATE_MIXED_PRECISION", "FSDP_VERSION", *(key for key in told if key.startswith("PARALLELISM_CONFIG_DP"))):
        if key not in own:
            yield finding("sharding-not-of-plan", f"{name}: {key} is missing; by accelerate.yaml Accelerate's launcher says {told.get(key)}")
