"""guids.sh on what ibnetdiscover says: GUIDs by the planned names, or a refusal that names what is wrong and writes nothing."""

import shutil
import subprocess

import pytest

from iacgen.paths import data_folder

SCRIPT = data_folder("templates") / "fabric/static/guids.sh"
FIRST_SWITCH, FIRST_ADAPTER = 0x0C42A10300A00000, 0x0C42A10300B00000
ORDER = ("compute-su1-leaf1", "compute-spine1", "compute-spine2", "compute-spine3", "compute-spine4")


def fabric_of(rows, named=lambda name: f"MF0;{name}:MQM9700/U1"):
    """ibnetdiscover's words for the planned names; a port's GUID is one above that of its node, as with two-port adapters."""
    text = ["#", "# Topology file: generated on Sun Nov 29 12:00:00 2026", "#"]
    for i, row in enumerate(r for r in rows if r["kind"] == "switch"):
        guid = FIRST_SWITCH + 16 * i
        text += ["", "vendid=0x2c9", f"switchguid=0x{guid:x}({guid:x})", f'Switch\t65 "S-{guid:016x}"\t\t# "{named(row["description"])}" enhanced port 0 lid 2 lmc 0']
        text += [f'[1]\t"H-{FIRST_ADAPTER:016x}"[1]({FIRST_ADAPTER + 1:x}) \t\t# "gpu0001 mlx5_0" lid 7 4xNDR']
    for i, row in enumerate(r for r in rows if r["kind"] == "adapter"):
        guid = FIRST_ADAPTER + 16 * i
        text += ["", f"caguid=0x{guid:x}", f'Ca\t1 "H-{guid:016x}"\t\t# "{row["description"]}"', f'[1]({guid + 1:x}) \t"S-{FIRST_SWITCH:016x}"[1]\t\t# lid 9 lmc 0 "x" lid 2 4xNDR']
    text += ["", f'Ca\t1 "H-{FIRST_SWITCH + 8:016x}"\t\t# "Mellanox Technologies Aggregation Node"', f'[1]({FIRST_SWITCH + 8:x}) \t"S-{FIRST_SWITCH:016x}"[65]\t\t# lid 9 lmc 0']
    return "\n".join(text) + "\n"


@pytest.fixture
def ask(tmp_path, files):
    """Run the script as the manager does, on a plan of a case."""

    def asked(case, seen):
        (tmp_path / "plan.csv").write_text(files(case)["fabric/compute/plan.csv"])
        return subprocess.run(["sh", SCRIPT, tmp_path / "plan.csv", tmp_path / "compute"], input=seen, capture_output=True, text=True, timeout=60)

    return asked


def guids(path):
    return [int(line, 16) for line in path.read_text().splitlines()]


def test_roots_are_the_spines_and_computes_the_ports_of_gpu_nodes(ask, table, tmp_path):
    rows = table("opensm", "compute/plan.csv")
    done = ask("opensm", fabric_of(rows))
    assert (done.returncode, done.stdout, done.stderr) == (0, "changed\n", "")
    switches = [r["description"] for r in rows if r["kind"] == "switch"]
    adapters = [r for r in rows if r["kind"] == "adapter"]
    assert guids(tmp_path / "compute-root-guids") == [FIRST_SWITCH + 16 * switches.index(name) for name in ORDER[1:]]
    assert guids(tmp_path / "compute-cn-guids") == [FIRST_ADAPTER + 16 * i + 1 for i, r in enumerate(adapters) if r["role"] == "gpu"]
    assert len(guids(tmp_path / "compute-cn-guids")) == 31 * 8
    again = ask("opensm", fabric_of(rows, named=str))  # names as a map of names or a simulator gives them
    assert (again.returncode, again.stdout) == (0, "unchanged\n")


def test_a_changed_switch_changes_its_file_alone(ask, table, tmp_path):
    rows = table("opensm", "compute/plan.csv")
    ask("opensm", fabric_of(rows))
    before = (tmp_path / "compute-cn-guids").stat().st_mtime_ns
    spine = FIRST_SWITCH + 16 * [r["description"] for r in rows].index("compute-spine2")
    done = ask("opensm", fabric_of(rows).replace(f"{spine:x}", "c42a10300ffff00"[:16].rjust(16, "0")))
    assert done.stdout == "changed\n"
    assert 0x0C42A10300FFFF00 in guids(tmp_path / "compute-root-guids")
    assert (tmp_path / "compute-cn-guids").stat().st_mtime_ns == before


WRONG = {
    "missing switch": (lambda rows: [r for r in rows if r["description"] != "compute-spine3"], "guids: switch compute-spine3 is missing\n"),
    "missing adapter": (lambda rows: [r for r in rows if r["description"] != "gpu0001 mlx5_3"], "guids: adapter gpu0001 mlx5_3 is missing\n"),
    "unknown switch": (lambda rows: [*rows, rows[0] | {"description": "loaned"}], "guids: switch loaned (0x"),
    "unknown adapter": (lambda rows: [*rows, rows[-1] | {"description": "MT4129 ConnectX7   Mellanox Technologies"}], "guids: adapter MT4129 ConnectX7   Mellanox Technologies (0x"),
    "switch twice": (lambda rows: [*rows, rows[0]], "guids: switch compute-su1-leaf1 is there 2 times, the last as 0x"),
    "adapter twice": (lambda rows: [*rows, rows[-1]], " is there 2 times, the last as 0x"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_fabric_that_is_not_the_planned_one_is_refused(ask, table, tmp_path, wrong):
    change, says = WRONG[wrong]
    done = ask("opensm", fabric_of(change(table("opensm", "compute/plan.csv"))))
    assert done.returncode == 1 and done.stdout == ""
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("compute-*"))


def test_a_host_that_is_down_may_be_missing(ask, table, tmp_path):
    rows = [r for r in table("opensm", "compute/plan.csv") if r["device"] != "gpu0002"]
    assert ask("opensm", fabric_of(rows)).returncode == 0
    assert len(guids(tmp_path / "compute-cn-guids")) == 30 * 8


def test_nothing_on_the_wire_is_refused(ask, tmp_path):
    done = ask("opensm", "")
    assert done.returncode == 1 and "switch compute-spine1 is missing" in done.stderr
    assert not list(tmp_path.glob("compute-*"))


def test_another_file_is_no_plan(tmp_path):
    (tmp_path / "plan.csv").write_text("device,kind\n")
    done = subprocess.run(["sh", SCRIPT, tmp_path / "plan.csv", tmp_path / "x"], input="", capture_output=True, text=True)
    assert done.returncode == 1 and "this is no plan" in done.stderr


def test_a_dragonfly_has_no_roots(ask, table, tmp_path):
    done = ask("dragonfly", fabric_of(table("dragonfly", "compute/plan.csv")))
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.glob("compute-*"))


@pytest.mark.parametrize("script", ["fabric/static/guids.sh", "ansible/static/roles/opensm/files/opensm-guids"])
def test_shellcheck_finds_nothing(script):
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed: apt-get install shellcheck")
    done = subprocess.run(["shellcheck", data_folder("templates") / script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
