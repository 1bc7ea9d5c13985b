"""Line-based files without quoting, read by the programs that they are written for: what the filter lets through comes back as it was."""

import json
import os
import re
import subprocess
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen.render import UnrepresentableValue
from iacgen.render.filters import dotenv, ini, nccl, slurm
from iacgen.verify import programs
from iacgen.verify.nccl.library import _probe
from iacgen.verify.slurm.controller import started
from iacgen.verify.slurm.installation import Installation, free_ports, munged, work_folder
from iacgen.verify.slurm.sandbox import machine_lines

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
OPENSM = ("root_guid_file", "cn_guid_file", "io_guid_file", "ids_guid_file", "guid_routing_order_file", "sa_db_file", "node_name_map_name", "log_file", "partition_config_file", "dump_files_dir")


def fits(quote, word):
    try:
        return quote(word) == word
    except UnrepresentableValue:
        return False


@cache
def words(quote):
    """Any words of the characters that the filter lets through, wherever they stand in one."""
    letters = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000 and fits(quote, chr(i))]
    return st.text(letters, min_size=1, max_size=40) | st.text([c for c in "a1=;:,[]{}$`!*?~^&|<>()%@-_./+ #\\'\"" if c in letters], min_size=1, max_size=12)


@given(st.lists(words(ini), min_size=1, max_size=30))
@settings(unhurried, max_examples=60)
def test_bash_reads_the_arguments_of_megatron(tmp_path, arguments):
    """As launch.sh does it, and hands them on."""
    file = tmp_path / "megatron.args"
    file.write_text("".join(f"--{ini(word)}={ini(word)}\n" for word in arguments))
    script = 'mapfile -t arguments <"$1"; printf "%s\\0" "${arguments[@]}"'
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script, "bash", file], capture_output=True, text=True, check=True)
    assert done.stdout.split("\0")[:-1] == [f"--{word}={word}" for word in arguments]


@pytest.mark.judge("opensm")
@given(st.lists(words(ini), min_size=len(OPENSM), max_size=len(OPENSM)))
@settings(unhurried, max_examples=60)
def test_opensm_reads_its_options(tmp_path, values):
    """It writes down every option that it has read, and ends."""
    asked, said = tmp_path / "opensm.conf", tmp_path / "said.conf"
    asked.write_text("".join(f"{option} {ini(value)}\n" for option, value in zip(OPENSM, values, strict=True)))
    said.unlink(missing_ok=True)
    subprocess.run([programs.find("opensm").path, "-F", asked, "-c", said], capture_output=True, check=True, timeout=30)
    read = dict(line.split(" ", 1) for line in said.read_text().splitlines() if line.split(" ", 1)[0] in OPENSM)
    assert [read[option] for option in OPENSM] == values


@pytest.mark.judge("deepspeed")
def test_deepspeed_reads_the_hosts(tmp_path):
    """Many files in one start of its interpreter."""
    files = []

    @given(st.lists(words(ini), min_size=1, max_size=20, unique=True))
    @settings(unhurried, max_examples=60)
    def collect(hosts):
        files.append(hosts)
        (tmp_path / f"{len(files) - 1}").write_text("".join(f"{ini(host)} slots=8\n" for host in hosts))

    collect()
    reader = "import json, sys\nfrom deepspeed.launcher.runner import fetch_hostfile\nprint('READ', json.dumps([list(fetch_hostfile(f).items()) for f in sys.argv[1:]]))"
    names = [str(tmp_path / str(i)) for i in range(len(files))]
    done = subprocess.run([programs.find("deepspeed").path, "-c", reader, *names], capture_output=True, text=True, check=True, timeout=300, env=os.environ | {"DS_ACCELERATOR": "cpu"})
    read = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("READ ")).removeprefix("READ "))
    assert read == [[[host, 8] for host in hosts] for hosts in files]


@pytest.mark.judge("nccl")
@given(st.lists(words(nccl), min_size=20, max_size=40))
@settings(unhurried, max_examples=15)
def test_libnccl_reads_its_values(tmp_path, values):
    """Names that it does not know, so that no value does anything."""
    file = tmp_path / "nccl.conf"
    file.write_text("".join(f"NCCL_UNKNOWN_{i}={nccl(value)}\n" for i, value in enumerate(values)))
    said, complaint = _probe(programs.find("nccl"), file, [f"NCCL_UNKNOWN_{i}" for i in range(len(values))], {})
    assert said is not None, complaint
    assert [said["values"][f"NCCL_UNKNOWN_{i}"] for i in range(len(values))] == values


def some_values(quote, count):
    """That many different values, of a few draws."""
    found = {}

    @given(st.lists(words(quote), min_size=20, max_size=40))
    @settings(unhurried, max_examples=20)
    def collect(values):
        found.update(dict.fromkeys(values))

    collect()
    return list(found)[:count]


HANDED_ON = """
import argparse, json, sys
from deepspeed.launcher.multinode_runner import PDSHRunner
words = dict(user_args=[], user_script="x", ssh_port=None, launcher_args="", venv_script=None, no_python=True, module=False, no_local_rank=True, save_pid=False, enable_each_rank_log=None, master_addr="a", master_port=1)
runner = PDSHRunner(argparse.Namespace(**words), "e30=")
for line in open(sys.argv[1]):  # as its main() reads the file
    runner.add_export(*line.split("=", maxsplit=1))
command = runner.get_cmd({}, {"a": [0]})
command = command[0] if isinstance(command, tuple) else command
print("READ", json.dumps(next(word for word in command if word.startswith("export "))))
"""


@pytest.mark.judge("deepspeed")
def test_the_far_shell_reads_what_deepspeed_hands_on(tmp_path):
    """Its launcher writes the values into a command line: what one shell or the other would evaluate, the filter must not let through."""
    values = some_values(dotenv, 200)
    assert len(values) > 100
    file = tmp_path / ".deepspeed_env"
    file.write_text("".join(f"V{i}={dotenv(value)}\n" for i, value in enumerate(values)))
    done = subprocess.run([programs.find("deepspeed").path, "-c", HANDED_ON, file], capture_output=True, text=True, check=True, timeout=300, env=os.environ | {"DS_ACCELERATOR": "cpu"})
    exports = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("READ ")).removeprefix("READ "))
    for shell in ("bash", "dash"):
        far = subprocess.run([shell, "-c", f"{exports} env -0"], capture_output=True, text=True, check=True, cwd=tmp_path, env={"PATH": os.environ["PATH"], "HOME": "/nowhere"})
        read = dict(entry.split("=", 1) for entry in far.stdout.split("\0") if entry)
        assert [read[f"V{i}"] for i in range(len(values))] == values


@pytest.mark.parametrize("version", [pytest.param(v, marks=pytest.mark.judge(f"slurm-{v}")) for v in ("22.05", "24.11")])
def test_slurmctld_reads_its_values(version):
    """A reason for each of many nodes: text to Slurm, which it shows again."""
    values = some_values(slurm, 300)
    assert len(values) > 100
    with work_folder() as work:
        installed = Installation(work, programs.find(f"slurm-{version}").companion)
        for folder in ("state", "spool", "log"):
            (work / folder).mkdir(exist_ok=True)
        with munged(installed) as socket:
            own = machine_lines(work, socket, free_ports(2)) | {"ClusterName": "x", "ProctrackType": "proctrack/linuxproc"}
            nodes = [f"NodeName=n{i} NodeAddr=127.0.0.1 State=DOWN Reason={slurm(value)}" for i, value in enumerate(values)]
            lines = [*(f"{key}={value}" for key, value in own.items()), *nodes, "PartitionName=p Nodes=ALL"]
            (work / "slurm.conf").write_text("\n".join(lines) + "\n")
            with installed.daemon("slurmctld", "slurmctld", "-D", "-i", "-f", work / "slurm.conf") as controller:
                assert started(installed, controller), controller.said
                shown = installed.run("scontrol", "show", "node").out
    read = dict(re.findall(r"^NodeName=(\S+) .*?^   Reason=(.*?)(?: \[\S+@\S+\])?$", shown, re.MULTILINE | re.DOTALL))
    assert [read.get(f"n{i}") for i in range(len(values))] == values
