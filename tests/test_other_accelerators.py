"""Jobs on chips of other vendors are planned from data sheets; what would be NVIDIA's in the tree is left out and named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.pipeline import run, tree
from iacgen.verify import JUDGES, ask

AMD = """
kind: Cluster
schema: 1
name: amd
sites: {hall: {kind: on-prem, rack: {power: 60kW, units: 48}}}
nodes:
  gpu: {site: hall, system: oam-mi300x, count: 8, spares: 0}
  ctl: {site: hall, system: generic-1u-ndr, count: 2}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, manager: {kind: opensm, pool: ctl}}
  mgmt: {site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, topology: fat-tree, switch: sn2201, subnet: 10.0.0.0/16}
scheduler: {kind: slurm, version: "24.11", controllers: ctl}
training:
  job: {model: %s, nodes: gpu, sequence: 8192, global_batch: 64, framework: megatron, gradients: bf16, recompute: full, parallel: %s}
"""
TPU = """
kind: Cluster
schema: 1
name: pod
sites: {hall: {kind: on-prem}}
nodes: {tpu: {site: hall, system: %s, count: %d, spares: 0}}
training: {job: {model: %s, nodes: tpu, sequence: 8192, global_batch: 512, framework: fsdp, gradients: bf16, recompute: full}}
"""


def errors(state):
    return [f.slug for f in state.findings if f.severity == "error"]


def test_a_model_that_does_not_fit_on_amd_is_refused_with_its_table():
    """405B with bf16 weights and gradients and 12 bytes of optimizer over data 4: 405.9e9 / 16 x (4 + 12 / 4) bytes is 165 GiB beside the
    rest; over tensor 8 alone, data 8, it is twice that of 192 GiB."""
    (refused,) = [f for f in run(AMD % ("llama-3.1-405b", "{tensor: 8}"), "amd.yaml").findings if f.severity == "error"]
    assert refused.slug == "job-does-not-fit" and "mi300x has room for 190.0 GiB" in refused.message
    weights = float(re.search(r"weights, bf16\D+([0-9.]+)", refused.help)[1])
    assert weights == pytest.approx(2 * 405_853_388_800 / 8 / 2**30, rel=0.01)


def test_a_job_on_amd_has_a_time_and_a_tree_without_files_of_nvidia():
    state = run(AMD % ("llama-3-70b", "{tensor: 8, pipeline: 2}"), "amd.yaml")
    assert errors(state) == [] and "accelerator-not-rendered" in {f.slug for f in state.findings}
    (told,) = [f.message for f in state.findings if f.slug == "accelerator-not-rendered"]
    assert told.count("Slurm") == 1 and "AutoDetect=rsmi" in told and "RCCL" in told
    step = state.project.jobs["job"].step
    assert 0.1 < step.mfu < catalog.gpu("mi300x").best_gemm_tflops / catalog.gpu("mi300x").bf16_tflops  # 51 %: no step beats its products
    files = tree(state)
    assert {path.partition("/")[0] for path in files} == {".iacgen", "README.md", "facility", "fabric", "report.html", "report.md"}
    assert "Plan only" in files["report.md"] and "no training run of it was at hand" in files["report.md"]
    assert "taken over from NVLink" in files["report.md"] and "unknown for" in files["report.md"]


@pytest.mark.parametrize(("system", "chip", "model"), [("ct5p-hightpu-4t", "tpu-v5p", "llama-3-70b"), ("ct6e-standard-4t", "tpu-v6e", "llama-3-8b")])
def test_a_job_on_a_tpu_pod_needs_no_network_of_ours(system, chip, model):
    count = 64
    state = run(TPU % (system, count, model), "pod.yaml")
    assert errors(state) == []
    job, known = state.project.jobs["job"], catalog.tpu(chip)
    assert job.world == 4 * count
    assert job.memory.capacity == round(known.memory_gib * 2**30) - 2**30
    assert job.step.peak_flops == known.bf16_tflops * 1e12 and 0.1 < job.step.mfu < 0.6
    files = tree(state)
    assert {path.partition("/")[0] for path in files} == {".iacgen", "README.md", "facility", "report.html", "report.md"}
    assert f"**TPUs:** {4 * count} on {count} of these hosts" in files["report.md"] and "one axis of the torus" in files["report.md"]
    of_job = files["report.md"].partition("## Job job")[2].partition("\n## ")[0]
    assert "TPU-hours" in of_job and "GPU" not in of_job


def test_a_ring_on_a_torus_takes_the_links_of_one_axis():
    """TPU v5p: 1,200 GB/s over six links, both directions; two of them, one each way round, are 200 GB/s out of a chip."""
    spec = run(TPU % ("ct5p-hightpu-4t", 64, "llama-3-70b"), "pod.yaml").jobs["job"].spec
    assert spec.gpu.nvlink_gbytes_per_s / 2 == 200


def test_beyond_one_pod_nothing_joins_the_hosts():
    """A v6e pod has 256 chips, 64 hosts of four: no fabric of the blueprint joins two pods."""
    assert "no-compute-fabric" in errors(run(TPU % ("ct6e-standard-4t", 128, "llama-3-8b"), "pod.yaml"))


def test_a_model_that_does_not_fit_on_a_pod_is_refused():
    """70B over 256 chips of 32 GiB: what FSDP gathers and the logits of 8,192 tokens are beyond what is left."""
    (refused,) = [f for f in run(TPU % ("ct6e-standard-4t", 64, "llama-3-70b"), "pod.yaml").findings if f.severity == "error"]
    assert refused.slug == "job-does-not-fit" and "tpu-v6e has room for 31.0 GiB" in refused.message


def test_the_shipped_trees_are_whole():
    text = (Path(__file__).parents[1] / "blueprints/lab.yaml").read_text()
    files = tree(run(text, "lab.yaml"))
    assert {"slurm/slurm.conf", "nccl/nccl.conf"} <= files.keys() and "Plan only" not in files["report.md"]


@pytest.mark.judge("opensm")
def test_the_fabric_of_a_plan_is_judged_and_nothing_else(tmp_path):
    state = run(AMD % ("llama-3-70b", "{tensor: 8, pipeline: 2}"), "amd.yaml")
    for path, text in tree(state).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    said = {name: ask(name, tmp_path, state.project) for name in JUDGES if name != "simgrid"}
    assert said["opensm"].status == "passed", said["opensm"].findings
    assert {verdict.status for name, verdict in said.items() if name != "opensm"} == {"not-applicable"}
