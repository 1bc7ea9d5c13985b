"""Ask TorchTitan: does its own manager of configurations take the file, and are model, mesh and batch those of the plan?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import probe
from ..launch import of_script, reads_of, verify_files
from ..verdict import Verdict
from .plan import launch, on_titan, shards

_FILES = ("torchtitan.toml", "launch.sh")
READS = tuple(f"training/*/{name}" for name in _FILES)
_LONGEST_S = 180.0


def reads(tree: Path) -> list[str]:
    """Those of READS that are in a job of its own in this tree."""
    return reads_of(tree, _FILES)


def applies(tree: Path) -> bool:
    """True when the tree holds a job for TorchTitan."""
    return any(tree.glob("training/*/torchtitan.toml"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    return verify_files("torchtitan", "torchtitan", _FILES, on_titan, tree, project, _ask)


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    paths = [str(tree / "training" / name / "torchtitan.toml") for name in names]
    said, complaint = probe(found.path, "torchtitan_probe.py", json.dumps(paths), env={"OMP_NUM_THREADS": "1"}, timeout=_LONGEST_S)
    if said is None:
        return [finding("torchtitan-refused", f"TorchTitan did not answer: {complaint[-400:]}")]
    findings: list[Diagnostic] = []
    for name, read in zip(names, said, strict=True):
        job, folder, where = project.jobs[name], tree / "training" / name, f"training/{name}"
        if read["refused"]:
            findings.append(finding("torchtitan-refused", f"{where}/torchtitan.toml: {read['refused']}", job.spec.origin))
        else:
            findings += _of_plan(f"{where}/torchtitan.toml", read, job, project.design)
        findings += of_script(f"{where}/launch.sh", folder / "launch.sh", launch(job, project.placements[name], project.design))
    return findings


def _of_plan(name: str, read: dict[str, Any], job: Any, design: Any) -> Iterator[Diagnostic]:
    spec, shape = job.spec, read["shape"]
    if shape is None:
        yield finding("sharding-not-of-plan", f"{name}: TorchTitan has no such flavor of the model", spec.origin)
        return
    for theirs, ours in {"dim": spec.model.hidden, "n_layers": spec.model.layers, "n_heads": spec.model.heads}.items():
        if shape.get(theirs) != ours:
            yield finding("sharding-not-of-plan", f"{name}: TorchTitan's model has {theirs} {shape.get(theirs)}, {spec.model.id} has {ours}", spec.origin)
    values = {f"{section}.{key}": value for section, keys in read["values"].items() for key, value in keys.items()}
    for key, value in _planned(job, design).items():
        if values.get(key) != value:
            yield finding("sharding-not-of-plan", f"{name}: {key} is {values.get(key)}, but the job was planned with {value}", spec.origin)


def _planned(job: Any, design: Any) -> dict[str, Any]:
    spec = job.spec
    copies, parts = shards(spec)
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    saves = bool(mount and job.checkpoints)
    out = {
        "training.global_batch_size": spec.global_batch,
        "training.local_batch_size": spec.micro_batch * (job.micro_batches if spec.pipeline > 1 else 1),
        "training.seq_len": spec.sequence,
        "training.enable_cpu_offload": spec.offload_weights == "cpu",
        "training.dtype": "float32",
        "training.mixed_precision_param": "bfloat16",
        "parallelism.data_parallel_replicate_degree": copies,
        "parallelism.data_parallel_shard_degree": parts,
        "parallelism.fsdp_reshard_after_forward": "always" if spec.zero == 3 else "never",
        "parallelism.tensor_parallel_degree": spec.tensor,
        "parallelism.context_parallel_degree": spec.context,
        "parallelism.pipeline_parallel_degree": spec.pipeline,
        "parallelism.expert_parallel_degree": spec.expert,
        "activation_checkpoint.mode": "full" if spec.recompute == "full" else "none",
        "checkpoint.enable": saves,
    }
    if spec.pipeline > 1:
        out |= {"parallelism.pipeline_parallel_microbatch_size": spec.micro_batch, "parallelism.pipeline_parallel_schedule": "1F1B"}
        out |= {f"parallelism.pipeline_parallel_{end}_stage_less_layers": 0 for end in ("first", "last")}
    if saves:
        out |= {"checkpoint.folder": f"{mount}/checkpoints/{job.name}", "checkpoint.interval": job.checkpoints.steps}
    return out
