"""The health check, run with stand-ins for NVIDIA's and InfiniBand's tools that answer as the real ones do."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import slurm

RAILS = ["mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11", "mlx5_1", "mlx5_7"]  # DGX H100: eight and two for storage

# What the tools print on a sound DGX H100 (nvidia-smi 550, infiniband-diags 44, DCGM 3.3), cut to what is asked for.
NVIDIA_SMI = r"""#!/bin/bash
case $1 in
--query-gpu=index) seq 0 $((${GPUS:-8} - 1)) ;;
--query-gpu=index,ecc*) for i in {0..7}; do echo "$i, ${ECC:-0}"; done ;;
--query-remapped-rows=*) for i in {1..8}; do echo "00000000:1$i:00.0, ${PENDING:-0}, 0"; done ;;
--query-compute-apps=*) [[ -z ${APPS:-} ]] || echo "$APPS" ;;
nvlink) for i in {0..17}; do echo "	 Link $i: ${LINK:-26.562 GB/s}"; done ;;
*) echo "unknown $1" >&2; exit 1 ;;
esac
"""
IBSTAT = r"""#!/bin/bash
(($# == 2 && $2 == 1)) || exit 1
[[ $1 != "${MISSING:-}" ]] || { echo "ibpanic: [1] main: '$1' IB device can't be found" >&2; exit 255; }
rate=400; [[ $1 != "${SLOW:-}" ]] || rate=200
state=Active; [[ $1 != "${DOWN:-}" ]] || state=Initializing
printf "CA: '%s'\nPort 1:\nState: %s\nPhysical state: LinkUp\nRate: %s\nBase lid: 3\nLink layer: InfiniBand\n" "$1" "$state" "$rate"
"""
DCGMI = '#!/bin/bash\n[[ $1 != diag ]] || exit "${DIAG:-0}"\n[[ $1 != discovery ]] || exit "${SERVICE:-0}"\n'
MOUNTPOINT = '#!/bin/bash\n[[ $2 != "${UNMOUNTED:-}" ]]\n'
FI_INFO = r"""#!/bin/bash
[[ "$*" == "-p efa -t FI_EP_RDM" ]] || exit 1
for i in $(seq 1 "${ADAPTERS:-32}"); do printf 'provider: efa\n    fabric: efa\n    domain: rdmap%ss0-rdm\n    version: 121.0\n' "$i"; done
"""
TOOLS = {"nvidia-smi": NVIDIA_SMI, "ibstat": IBSTAT, "dcgmi": DCGMI, "mountpoint": MOUNTPOINT, "fi_info": FI_INFO}


@cache
def script(blueprint: str, job: str) -> str:
    project = run((data_folder("blueprints") / f"{blueprint}.yaml").read_text(), blueprint).project
    assert project
    return slurm.render(project)[f"slurm/{job}.health"]


@pytest.fixture
def asked(tmp_path):
    """Exit code and complaints of a health check, with tools that the variables make unsound."""

    def ask(blueprint="superpod-h100", job="pretrain", tools=TOOLS, **said):
        """PATH holds the stand-ins and what every Debian has, whatever else is on this machine."""
        (tmp_path / "debian").mkdir(exist_ok=True)
        for name in ("bash", "uname", "timeout", "wc", "awk", "tr", "grep", "sed", "sort", "seq"):
            (tmp_path / "debian" / name).symlink_to(shutil.which(name))
        for name, text in tools.items():
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
        (tmp_path / "job.health").write_text(script(blueprint, job))
        done = subprocess.run(["bash", tmp_path / "job.health"], env={"PATH": f"{tmp_path}:{tmp_path}/debian", **said}, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr.replace(f"{os.uname().nodename}: ", "").splitlines(), done.stdout

    return ask


@pytest.mark.parametrize(("blueprint", "job"), [("superpod-h100", "pretrain"), ("lab", "pretrain"), ("aws-p5", "pretrain")])
def test_a_sound_node_is_fit(asked, blueprint, job):
    code, complaints, out = asked(blueprint, job)
    assert (code, [c for c in complaints if "not installed" not in c], out) == (0, [], "")


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"GPUS": "7"}, "7 GPUs of 8"),
        ({"ECC": "3"}, "uncorrected memory errors on GPU 0 1 2 3 4 5 6 7 "),
        ({"PENDING": "Yes"}, "memory rows to remap on GPU 00000000:11:00.0"),
        ({"APPS": "4711"}, "processes that still hold a GPU: 4711 "),
        ({"LINK": "<inactive>"}, "18 NVLinks are not active"),
        ({"DIAG": "226"}, "dcgmi diag -r 1 has found a fault"),
        ({"SLOW": "mlx5_10"}, "mlx5_10 runs at 200 of 400 Gb/s"),
        ({"DOWN": "mlx5_0"}, "mlx5_0 is not up"),
        ({"MISSING": "mlx5_7"}, "mlx5_7 is not up"),
        ({"UNMOUNTED": "/scratch"}, "/scratch is not mounted"),
    ],
)
def test_one_fault_is_told_alone(asked, said, complaint):
    code, complaints, _ = asked(**said)
    assert code == 1
    (told,) = complaints
    assert told.startswith(complaint)


def test_all_faults_are_told_together(asked):
    code, complaints, _ = asked(GPUS="6", SLOW="mlx5_3", UNMOUNTED="/scratch")
    assert (code, len(complaints)) == (1, 3)


def test_efa_adapters_are_counted(asked):
    assert asked("aws-p5", ADAPTERS="31")[:2] == (1, ["31 EFA adapters of 32"])


def test_a_tool_that_is_not_there_is_named_and_nothing_else(asked):
    """A machine without drivers and tools: nobody asked them, which is told; it is not a fault of the node."""
    code, complaints, _ = asked(tools={"mountpoint": MOUNTPOINT})
    assert code == 0
    assert complaints == [f"{tool} is not installed, so nobody asked it" for tool in ("nvidia-smi", "dcgmi", "ibstat")]


def test_a_service_of_diagnostics_that_does_not_run_is_no_fault(asked):
    assert asked(SERVICE="1", DIAG="1")[0] == 0


def test_counters_that_a_gpu_does_not_have_are_no_fault(asked):
    assert asked(ECC="[N/A]", PENDING="[N/A]", APPS="[N/A]")[:2] == (0, [])


def test_every_port_of_the_plan_is_asked():
    listed = script("superpod-h100", "pretrain").partition("<<'PORTS'\n")[2].partition("PORTS")[0].split("\n")
    assert [line.split() for line in listed if line] == [[name, "400"] for name in RAILS]


@pytest.mark.skipif(not Path("/usr/bin/shellcheck").exists(), reason="shellcheck: install the Debian package shellcheck")
@pytest.mark.parametrize(("blueprint", "job"), [("superpod-h100", "pretrain"), ("aws-p5", "pretrain")])
def test_shellcheck_has_nothing_against_it(blueprint, job, tmp_path):
    (tmp_path / "x").write_text(script(blueprint, job))
    done = subprocess.run(["shellcheck", "--norc", tmp_path / "x"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
