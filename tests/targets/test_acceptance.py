"""The acceptance job: thresholds by hand from links and shares, and the script run with a stand-in for srun."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import acceptance, nccl, report
from iacgen.verify.nccl import acceptance as judged

ROOT = Path(__file__).parents[2]
# Stands in for srun: prints what nccl-tests would, with a figure for each program.
SRUN = """#!/bin/bash
for word; do [[ $word == *_perf ]] && program=$word; done
printf '%s\\n' "$*" >>"$SAID"
[[ ${FAILS:-} != "$program" ]] || exit 3
name=${program^^}
printf '# Out of bounds values : %s\\n# Avg bus bandwidth    : %s\\n#\\n' "${WRONG:-0 OK}" "${!name}"
"""


@pytest.fixture(scope="module")
def projects():
    return {name: run((ROOT / f"blueprints/{name}.yaml").read_text(), name).project for name in ("lab", "superpod-h100", "aws-p5")}


@pytest.mark.parametrize(
    ("name", "reduce", "exchange"),
    [
        # 8 x 50 x 0.92 = 368, NVLink 450 x 230/300 = 345; 46 x 15/8 = 86.25
        ("lab", 345, 86),
        # 127 nodes in several units: 46 x 1015/1008 x 0.83 = 38.4
        ("superpod-h100", 345, 38),
        # 32 x 12.5 x 0.78 = 312; four adapters a GPU: 39 x 127/120 = 41.3
        ("aws-p5", 312, 41),
    ],
)
def test_thresholds(projects, name, reduce, exchange):
    text = acceptance.render(projects[name])["nccl/acceptance-gpu.sbatch"]
    assert [line for line in text.splitlines() if line.startswith("measure ")] == [f"measure all_reduce_perf {reduce}", f"measure alltoall_perf {exchange}"]


def test_thresholds_count_their_adapters_in_words(projects):
    """One a GPU in the lab, four on a p5."""
    said = {name: re.search(r"alltoall_perf: .*, (.*) a GPU x", acceptance.render(projects[name])["nccl/acceptance-gpu.sbatch"])[1] for name in ("lab", "aws-p5")}
    assert said == {"lab": "1 adapter", "aws-p5": "4 adapters"}


def of(project, system, gpu, hosts):
    pool, fabric = project.design.pools["gpu"], project.design.fabric_of("gpu", "compute")
    made = replace(pool, system=catalog.system(system), gpu=catalog.gpu(gpu), count=hosts)
    fitted = replace(fabric, nics={**fabric.nics, "gpu": made.system.nics["compute"]})
    return [t.least for t in acceptance.thresholds(project.design, made, fitted, hosts)]


def test_a_rack_of_one_nvlink_domain_is_measured_by_nvlink(projects):
    """NVL72: 900 GB/s x 230/300 inside a rack of 18 trays, for both; across two racks all 72 adapters carry the ring."""
    assert of(projects["lab"], "dgx-gb200", "gb200", 18) == [690, 690]
    assert of(projects["lab"], "dgx-gb200", "gb200", 36) == [690, 91]  # 46 x 143/72


@pytest.mark.parametrize(("system", "gpu", "measured"), [("p5.48xlarge", "h100-sxm", 464.33)])
def test_two_machines_of_aws_reach_more_than_they_must(projects, system, gpu, measured):
    """all_reduce_perf at 4 GiB on two machines, the slower way: aws-samples/awsome-distributed-training, micro-benchmarks/nccl-tests."""
    least, _ = of(projects["aws-p5"], system, gpu, 2)
    assert 0.5 * measured < least < measured


def test_sound_a100_pass(projects):
    """230.77 GB/s over eight A100 of a p4d.24xlarge (NVIDIA/nccl#527), 232.54 over those of another machine (NVIDIA/nccl-tests#175)."""
    assert catalog.gpu("a100-80").nvlink_gbytes_per_s / 2 * acceptance.NVLINK_SHARE < 230.77


PCIE = """kind: Cluster
schema: 1
name: cards
sites: {room: {kind: on-prem}}
nodes:
  gpu: {site: room, system: pcie-h100, count: 4}
  ctl: {site: room, system: generic-1u, count: 1}
fabrics:
  compute: {site: room, purpose: compute, connects: [gpu], technology: infiniband, manager: {kind: opensm, pool: gpu}}
  mgmt: {site: room, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}
scheduler: {kind: slurm, version: "24.11", controllers: ctl}
training:
  j: {model: llama-3-8b, nodes: gpu, sequence: 8192, global_batch: 128, gradients: bf16, recompute: full, framework: megatron, parallel: {tensor: 2}}
"""


def test_cards_without_nvlink_talk_over_pcie():
    """Acceptance: 22 GB/s between sockets, of which messages take 6/5 (NCCL, graph/topo.h). A step: six all-reduces of 8192 x 4096 bf16 in each of
    32 layers and eight micro batches, each over the bus once for two ranks, at 25 GB/s and with 8.4 + 5.7 us each way (graph/tuning.cc)."""
    project = run(PCIE, "cards").project
    text = acceptance.render(project)["nccl/acceptance-gpu.sbatch"]
    assert "measure all_reduce_perf 18\n" in text and "measure alltoall_perf 18\n" in text
    assert judged.least(project.design, project.design.pools["gpu"]) == (18, 18)
    tensor = project.jobs["j"].step.parts["tensor"]
    assert tensor == pytest.approx(6 * 32 * 8 * (8192 * 4096 * 2 / 25e9 + 2 * (8.4e-6 + 5.7e-6)), rel=1e-3)
    said = report.render(project)["report.md"]
    assert "assume.pcie_gbytes_per_s 25" in said and "assume.nvlink" not in said


def test_one_host_alone_and_a_cluster_without_slurm_have_no_such_job(projects):
    lab = projects["lab"]
    alone = replace(lab, design=replace(lab.design, pools={**lab.design.pools, "gpu": replace(lab.design.pools["gpu"], count=1)}))
    assert acceptance.render(alone) == {}
    assert acceptance.render(replace(lab, design=replace(lab.design, scheduler=None))) == {}


@pytest.fixture
def measure(tmp_path, projects):
    def run_it(**said):
        folder = tmp_path / "cluster"
        apply(plan(acceptance.render(projects["lab"]) | nccl.render(projects["lab"]), folder), folder)
        (tmp_path / "srun").write_text(SRUN)
        (tmp_path / "srun").chmod(0o755)
        env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SAID": str(tmp_path / "said"), "SLURM_SUBMIT_DIR": str(folder), "SLURM_NNODES": "2", **said}
        return subprocess.run(["bash", folder / "nccl/acceptance-gpu.sbatch"], env=env, capture_output=True, text=True, timeout=60)

    return run_it


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        ({"ALL_REDUCE_PERF": "345", "ALLTOALL_PERF": "86.0"}, 0, ""),
        ({"ALL_REDUCE_PERF": "480.123", "ALLTOALL_PERF": "90"}, 0, ""),
        ({"ALL_REDUCE_PERF": "344.99", "ALLTOALL_PERF": "90"}, 1, "all_reduce_perf: 344.99 GB/s of bus bandwidth, at least 345"),
        ({"ALL_REDUCE_PERF": "400", "ALLTOALL_PERF": "9.5"}, 1, "alltoall_perf: 9.5 GB/s"),
        ({"ALL_REDUCE_PERF": "400", "ALLTOALL_PERF": "90", "WRONG": "3 FAILED"}, 1, "wrong values"),
        ({"ALL_REDUCE_PERF": "nan", "ALLTOALL_PERF": "90"}, 1, "printed no bus bandwidth"),
        ({"ALL_REDUCE_PERF": "400", "ALLTOALL_PERF": "90", "FAILS": "alltoall_perf"}, 1, "alltoall_perf ended with a fault"),
        ({"ALL_REDUCE_PERF": "400", "ALLTOALL_PERF": "90", "SLURM_NNODES": "1"}, 1, "the figures are for 2"),
    ],
)
def test_the_job_fails_below_its_thresholds_alone(measure, said, code, words):
    done = measure(**said)
    assert done.returncode == code, done.stderr
    assert words in done.stderr


def test_one_large_size_is_measured_and_checked(measure, tmp_path):
    measure(ALL_REDUCE_PERF="400", ALLTOALL_PERF="90")
    assert (tmp_path / "said").read_text().splitlines() == [f"--mpi=pmix --kill-on-bad-exit=1 {program} -b 4G -e 4G -g 1 -w 5 -n 20 -c 1" for program in ("all_reduce_perf", "alltoall_perf")]
