"""What becomes of a job that is told to end, fails, or meets a node that is not fit: the generated script on real daemons."""

from __future__ import annotations

import importlib.util
import re
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from iacgen.pipeline import run
from iacgen.targets import data, deepspeed, nccl, slurm

BLUEPRINT = """kind: Cluster
schema: 1
name: again
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-h100, count: 2}
  oss: {site: hall, system: lustre-oss, count: 2}
  mds: {site: hall, system: lustre-mds, count: 2}
  ctl: {site: hall, system: generic-1u, count: 1}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, manager: {kind: opensm, pool: gpu}}
  store: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, manager: {kind: opensm, pool: mds}}
  mgmt: {site: hall, purpose: management, connects: [gpu, oss, mds, ctl], technology: ethernet, switch: sn2201}
storage:
  scratch: {kind: lustre, site: hall, servers: oss, metadata: mds, fabric: store, capacity: 1PB, read: 40GB/s, write: 40GB/s, mount: /scratch}
scheduler: {kind: slurm, version: "24.11", controllers: ctl}
training:
  probe: {model: llama-3-8b, nodes: gpu, sequence: 8192, global_batch: 128, gradients: bf16, recompute: full, framework: deepspeed, checkpoint: {to: scratch, target: 60s}}
"""

# Stands in for Python and the training program: each rank does what the file "mode" says.
PROGRAM = """#!/bin/bash
cd "$IACGEN_CLUSTER_DIR"
read -r mode <mode || true
case $mode in
fail) exit 3 ;;
die) trap 'echo told >>"told/$RANK"; exit 5' TERM; echo here >>"here/$RANK"; for i in {1..600}; do sleep 0.1; done; exit 4 ;;
wait) trap 'echo told >>"told/$RANK"; exit 0' TERM; echo here >>"here/$RANK"; for i in {1..600}; do sleep 0.1; done; exit 4 ;;
esac
"""
TOOLS = {
    "bin/ibstat": "#!/bin/sh\nprintf 'State: Active\\nPhysical state: LinkUp\\nRate: 400\\n'\n",
    "bin/mountpoint": '#!/bin/sh\nwhile [ -e "$IACGEN_CLUSTER_DIR/slow" ]; do touch "$IACGEN_CLUSTER_DIR/asked"; sleep 0.2; done\n[ ! -e "$IACGEN_CLUSTER_DIR/unmounted" ]\n',
    # The save that DeepSpeed calls the last one, as this test wants it.
    "bin/cat": '#!/bin/sh\n[ "$1" != /scratch/checkpoints/probe/latest ] || { /bin/cat "$IACGEN_CLUSTER_DIR/latest"; exit; }\nexec /bin/cat "$@"\n',
}


def _lab_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("iacgen_tests_slurm_lab", Path(__file__).with_name("slurm_lab.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


slurm_lab = _lab_module()


class Running:
    """One job of the lab, submitted as the README says."""

    def __init__(self, lab):
        self.lab = lab
        (lab.folder / "latest").write_text("")
        for folder in ("told", "here"):
            (lab.folder / folder).mkdir()

    def mode(self, mode: str) -> None:
        (self.lab.folder / "mode").write_text(mode)

    def submit(self) -> None:
        self.job = self.lab.shell("IACGEN_CLUSTER_DIR=$PWD PATH=$PWD/bin:$PATH PYTHON=$PWD/program.sh sbatch --parsable slurm/probe.sbatch").strip()

    def facts(self) -> dict[str, str]:
        return dict(pair.partition("=")[::2] for pair in self.lab.shell(f"scontrol --oneliner show job {self.job}").split() if "=" in pair)

    def until(self, seconds: float, **wanted: str) -> dict[str, str]:
        """Wait until Slurm says this of the job. It comes back after a pause of minutes, which is cut to some seconds here: slurmd refuses a
        job within the second in which it was taken away."""
        end = time.monotonic() + seconds
        while True:
            facts = self.facts()
            if all(facts.get(key) == value for key, value in wanted.items()):
                return facts
            assert time.monotonic() < end, (wanted, {key: facts.get(key) for key in ("JobState", "Reason", "Restarts", "ExitCode", "EligibleTime")}, self.log())
            if facts["JobState"] == "PENDING" and facts["Reason"] == "BeginTime":
                time.sleep(3)
                self.lab.shell(f"scontrol update JobId={self.job} StartTime=now")
            time.sleep(0.3)

    def wait_for(self, folder: str, files: int) -> None:
        end = time.monotonic() + 60
        while len(list((self.lab.folder / folder).iterdir())) < files:
            assert time.monotonic() < end, self.log()
            time.sleep(0.2)

    def tell(self) -> None:
        """As sbatch's --signal=B:USR1 does, the script alone."""
        self.lab.shell(f"scancel --batch --signal=USR1 {self.job}")

    def log(self) -> str:
        return self.lab.shell("cat probe-*.out")


@pytest.fixture(params=[pytest.param("22.05", marks=pytest.mark.judge("slurm-22.05")), pytest.param("24.11", marks=pytest.mark.judge("slurm-24.11"))])
def running(request):
    project = run(BLUEPRINT.replace('"24.11"', f'"{request.param}"'), "again").project
    assert project
    tree = {**slurm.render(project), **deepspeed.render(project), **data.render(project), **nccl.render(project), **TOOLS, "program.sh": PROGRAM}
    hosts = project.design.pools["gpu"].hosts
    with slurm_lab.lab(request.param, tree, hosts, set(hosts)) as lab:
        yield Running(lab)


def test_a_job_that_is_told_of_its_end_saves_and_goes_on(running):
    """The notice comes as sbatch's --signal=B:USR1 sends it, to the script alone."""
    running.mode("wait")
    running.submit()
    running.until(60, JobState="RUNNING")
    running.wait_for("here", 16)
    running.mode("done")
    running.tell()
    facts = running.until(120, JobState="COMPLETED")
    assert (facts["Restarts"], facts["ExitCode"]) == ("1", "0:0")
    assert sorted(path.name for path in (running.lab.folder / "told").iterdir()) == sorted(str(rank) for rank in range(16))


def test_a_job_that_fails_goes_on_while_it_saves_and_is_held_when_it_does_not(running):
    running.mode("fail")
    running.submit()
    running.until(60, Restarts="1")
    (running.lab.folder / "latest").write_text("global_step100")  # the next run saves before it fails
    running.until(120, Restarts="2")
    facts = running.until(120, JobState="PENDING", Priority="0")
    assert facts["Restarts"] == "3"
    # srun tells of the first rank that it hears of: one that failed with 3, or one that it ended because of that.
    assert re.search(r"held: two runs in a row ended and saved nothing, the last one with (3|143)$", running.log(), re.MULTILINE)
    running.mode("done")
    running.lab.shell(f"scontrol release {running.job}")
    assert running.until(120, JobState="COMPLETED")["ExitCode"] == "0:0"


def test_a_job_that_dies_of_its_notice_unsaved_is_held(running):
    """Told each time, it would come back for ever."""
    running.mode("die")
    running.submit()
    running.until(60, JobState="RUNNING")
    running.wait_for("here", 16)
    running.tell()
    running.until(60, Restarts="1")
    for path in (running.lab.folder / "here").iterdir():
        path.unlink()
    running.until(120, JobState="RUNNING")
    running.wait_for("here", 16)
    running.tell()
    assert running.until(120, JobState="PENDING", Priority="0")["Restarts"] == "2"
    assert "held: two runs in a row ended and saved nothing, the last one with 5" in running.log()


@pytest.mark.parametrize("fit", [True, False], ids=["fit", "unfit"])
def test_a_notice_while_nodes_are_asked_is_no_fault_of_theirs(running, fit):
    """The job comes back, its ranks were not started, and the next run finds out whether a node is fit."""
    (running.lab.folder / "slow").touch()
    if not fit:
        (running.lab.folder / "unmounted").touch()
    running.mode("fail")
    running.submit()
    running.until(60, JobState="RUNNING")
    end = time.monotonic() + 60
    while not (running.lab.folder / "asked").exists():
        assert time.monotonic() < end, running.log()
        time.sleep(0.2)
    running.tell()
    running.mode("done")
    (running.lab.folder / "slow").unlink()
    running.until(60, Restarts="1")
    assert "held" not in running.log() or not fit
    if fit:
        assert running.until(120, JobState="COMPLETED")["Restarts"] == "1"
    else:
        running.until(120, JobState="PENDING", Priority="0")
        assert "probe: held: a node is not fit, see above" in running.log()


def test_a_node_that_is_not_fit_holds_the_job(running):
    (running.lab.folder / "unmounted").touch()
    running.mode("done")
    running.submit()
    running.until(60, JobState="PENDING", Priority="0")
    log = running.log()
    assert "/scratch is not mounted" in log
    assert "probe: held: a node is not fit, see above" in log
    (running.lab.folder / "unmounted").unlink()
    running.lab.shell(f"scontrol release {running.job}")
    assert running.until(120, JobState="COMPLETED")["ExitCode"] == "0:0"
