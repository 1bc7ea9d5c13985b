"""``iacgen place --output``: the order in the form of each launcher, read back before it is written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.ordering import faults, files, ordered
from iacgen.pipeline import run
from iacgen.render.hostlist import expand

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
SUPERPOD = BLUEPRINTS / "superpod-h100.yaml"


@pytest.fixture(scope="module")
def orders():
    """(design, orders) of the shipped SuperPOD."""
    state = run(SUPERPOD.read_bytes(), "x", judge=False, placed=False)
    orderings, findings = ordered(state.design, state.jobs, dict.fromkeys(state.jobs, "gpu"))
    assert not findings
    return state.design, orderings


def test_every_file_has_the_order_that_is_printed(call, tmp_path):
    done = call("place", SUPERPOD, "--output", "orders", "--format", "json")
    assert done.exit_code == 0 and "files, read back" in done.stderr
    folder = tmp_path / "orders"
    assert (folder / "placement.json").read_text(encoding="utf-8") == done.stdout
    for job in json.loads(done.stdout)["jobs"]:
        name, hosts = job["job"], job["hosts"]
        read = {path.name: path.read_text(encoding="utf-8").splitlines() for path in (folder / name).iterdir()}
        ranks = [host for host in hosts for _ in range(8)]
        assert read["hostfile"] == [f"{host} slots=8" for host in hosts]
        assert read[f"{name}.ranks"] == ranks
        assert [line.split()[1].partition("=")[::2] for line in read["rankfile"]] == [(str(rank), host) for rank, host in enumerate(ranks)]
        assert read["node-ranks"] == [f"{host} {number}" for number, host in enumerate(hosts)]
        assert read["indexes.csv"][1:] == [f"{n},{host},{8 * n},{8 * n + 7}" for n, host in enumerate(hosts)]
        assert f"      value: {hosts[0]}" in "\n".join(read["indexed-job.yaml"]) or f'value: "{hosts[0]}"' in "\n".join(read["indexed-job.yaml"])
    assert (folder / "slurm/topology.conf").read_text(encoding="utf-8").count("Nodes=") == 4 and (folder / "slurm/topology.yaml").exists()


def test_ranks_and_topology_are_those_that_generate_writes(call, tmp_path):
    call("place", SUPERPOD, "--output", "orders")
    tree = tmp_path / "out/superpod-h100"
    call("generate", SUPERPOD)
    for job in ("pretrain", "finetune"):
        assert (tmp_path / f"orders/{job}/{job}.ranks").read_bytes() == (tree / f"slurm/{job}.ranks").read_bytes()
        for name in ("hostfile", "rankfile"):
            assert (tmp_path / f"orders/{job}/{name}").read_bytes() == (tree / f"training/{job}/{name}").read_bytes()
    assert (tmp_path / "orders/slurm/topology.conf").read_bytes() == (tree / "slurm/topology.conf").read_bytes()


def test_generate_writes_the_order_of_a_failure_once_the_host_is_down(call, tmp_path):
    """127 hosts, one a spare, and a job of 126: the spare stands in for the host that is down, and the job loses none."""
    words = " ".join(call("place", SUPERPOD, "--job", "pretrain", "--down", "gpu0033").stdout.split())
    assert "generate writes this order once these hosts stand in nodes.gpu.down" in words
    for job in ("pretrain", "finetune"):
        done = call("place", SUPERPOD, "--job", job, "--down", "gpu0033", "--output", f"after-{job}")
        assert done.exit_code == 0, done.stderr
    down = ("--set", "nodes.gpu.down=[gpu0033]")
    done = call("generate", SUPERPOD, *down)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert (tmp_path / "after-pretrain/pretrain/pretrain.ranks").read_bytes() == (tmp_path / "out/superpod-h100/slurm/pretrain.ranks").read_bytes()
    assert call("place", SUPERPOD, *down).exit_code == 0
    done = call("generate", SUPERPOD, "--set", "nodes.gpu.down=[gpu0033, gpu0034]")
    assert done.exit_code == 1 and "the job wants 126 nodes; gpu has 127, less 2 down" in done.stdout


def test_the_topology_is_that_of_the_fabric_that_was_found(call, tmp_path):
    text = "SwitchName=top Switches=a,b\nSwitchName=a Nodes=gpu[0001-0060],stranger\nSwitchName=b Nodes=gpu[0061-0127]\n"
    (tmp_path / "found.conf").write_text(text, encoding="utf-8")
    done = call("place", SUPERPOD, "--job", "finetune", "--topology", "found.conf", "--output", "orders")
    assert done.exit_code == 0, done.stderr
    lines = (tmp_path / "orders/slurm/topology.conf").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line[0] != "#"] == ["SwitchName=a Nodes=gpu[0001-0060]", "SwitchName=b Nodes=gpu[0061-0127]", "SwitchName=top Switches=a,b"]
    assert "found.conf" in lines[0]


def test_blocks_of_machines_without_nvlink_between_them_are_no_leaves(call, tmp_path):
    """An instance's CapacityBlockId and a block of Slurm are NVLink domains on machines that NVLink joins; on others they would stand for the leaves."""
    nodes = [{"InstanceId": f"gpu{n:04d}", "NetworkNodes": ["nn-top", f"nn-mid{n % 2}", f"nn-low{n % 4}"], "CapacityBlockId": "cb-1"} for n in range(1, 128)]
    (tmp_path / "aws.json").write_text(json.dumps({"Instances": nodes}), encoding="utf-8")
    (tmp_path / "blocks.conf").write_text("BlockName=b1 Nodes=gpu[0001-0060]\nBlockName=b2 Nodes=gpu[0061-0127]\nBlockSizes=60\n", encoding="utf-8")
    leaves = {"aws.json": {f"nn-low{k}": {f"gpu{n:04d}" for n in range(1, 128) if n % 4 == k} for k in range(4)}}
    leaves["blocks.conf"] = {"b1": {f"gpu{n:04d}" for n in range(1, 61)}, "b2": {f"gpu{n:04d}" for n in range(61, 128)}}
    for file, groups in leaves.items():
        done = call("place", SUPERPOD, "--job", "finetune", "--topology", file, "--output", file[:3])
        assert done.exit_code == 0, done.stderr
        lines = [line for line in (tmp_path / file[:3] / "slurm/topology.conf").read_text(encoding="utf-8").splitlines() if "Nodes=" in line]
        assert {line.split()[0].removeprefix("SwitchName="): set(expand(line.partition(" Nodes=")[2])) for line in lines} == groups
        assert not (tmp_path / file[:3] / "slurm/block").exists()


def test_a_second_run_leaves_what_is_right_and_takes_away_what_is_no_longer_wanted(call, files, tmp_path):
    call("place", SUPERPOD, "--output", "orders")
    first = files(tmp_path / "orders")
    call("place", SUPERPOD, "--output", "orders")
    assert files(tmp_path / "orders") == first
    call("place", SUPERPOD, "--job", "pretrain", "--output", "orders")
    assert not (tmp_path / "orders/finetune").exists() and (tmp_path / "orders/pretrain/hostfile").exists()


def test_nothing_of_anybody_else_is_touched(call, files, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes").write_text("x", encoding="utf-8")
    call("generate", BLUEPRINTS / "lab.yaml")
    before = files(tmp_path)
    for folder in ("mine", "out/lab", "mine/notes"):
        done = call("place", SUPERPOD, "--output", folder)
        assert (done.exit_code, done.stdout) == (2, "") and "nothing was written" in done.stderr
    assert files(tmp_path) == before
    call("place", SUPERPOD, "--output", "orders")
    (tmp_path / "orders/pretrain/hostfile").write_text("gpu0001 slots=8\n", encoding="utf-8")
    done = call("place", SUPERPOD, "--output", "orders")
    assert done.exit_code == 2 and "pretrain/hostfile in orders was edited by hand: move it away, or name another folder" in done.stderr and "--force" not in done.stderr
    (tmp_path / "orders/pretrain/hostfile").rename(tmp_path / "hostfile.mine")
    assert call("place", SUPERPOD, "--output", "orders").exit_code == 0


def test_the_orders_of_another_cluster_are_not_replaced(call, files, tmp_path):
    assert call("place", BLUEPRINTS / "lab.yaml", "--output", "orders").exit_code == 0
    before = files(tmp_path)
    done = call("place", SUPERPOD, "--output", "orders")
    assert (done.exit_code, done.stdout) == (2, "") and "orders holds the orders of cluster lab" in done.stderr
    assert files(tmp_path) == before
    assert call("place", BLUEPRINTS / "lab.yaml", "--output", "orders").exit_code == 0


RACKS = """\
kind: Cluster
schema: 1
name: racks
sites: {s: {kind: on-prem, rack: {power: 200kW}}}
nodes:
  gpu: {site: s, system: dgx-gb200, count: 36, spares: 4}
  ctl: {site: s, system: generic-1u, count: 2}
fabrics:
  compute: {site: s, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, unit: 18, switch: qm9700, manager: {kind: opensm, pool: gpu}}
  mgmt: {site: s, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}
scheduler: {kind: slurm, version: "24.11", controllers: ctl}
training:
  pretrain: {model: llama-3-70b, nodes: gpu, count: 32, sequence: 4096, global_batch: 256, micro_batch: 1, parallel: {tensor: 4, pipeline: 4, virtual: 4}, framework: megatron}
"""


def test_blocks_have_the_sizes_that_are_asked_for(call, tmp_path):
    """Two racks of NVL72: their 18 trays are 18, 36 by themselves."""
    (tmp_path / "racks.yaml").write_text(RACKS, encoding="utf-8")
    done = call("place", "racks.yaml", "--output", "orders", "--block-sizes", "9,18")
    assert done.exit_code == 0, done.stderr
    assert "shares the adapters of all its members" in " ".join(done.stdout.split())
    assert (tmp_path / "orders/slurm/block/topology.conf").read_text(encoding="utf-8").splitlines()[-1] == "BlockSizes=9,18"
    assert "block_sizes: [9, 18]" in (tmp_path / "orders/slurm/topology.yaml").read_text(encoding="utf-8")
    for sizes, words in (("18,27", "27 is not 18 times a power of two"), ("20", "the smallest block has 18 hosts"), ("x", "write whole numbers, such as 18,36"), ("9,", "write whole numbers")):
        done = call("place", "racks.yaml", "--output", "others", "--block-sizes", sizes)
        assert (done.exit_code, done.stdout) == (2, "") and words in done.stderr
    assert "none are written" in call("place", "racks.yaml", "--block-sizes", "18").stderr
    assert "no NVLink domain" in call("place", SUPERPOD, "--output", "others", "--block-sizes", "18").stderr
    assert not (tmp_path / "others").exists()


def swapped(text):
    """The first two lines in each other's place."""
    one, other, rest = text.split("\n", 2)
    return f"{other}\n{one}\n{rest}"


@pytest.mark.parametrize(
    "path, spoilt",
    [
        ("pretrain/hostfile", swapped),
        ("pretrain/hostfile", lambda text: text.replace("slots=8", "slots=4", 1)),
        ("pretrain/pretrain.ranks", lambda text: text[text.index("\n") + 1 :]),
        ("pretrain/rankfile", lambda text: text.replace("rank 0=", "rank 1=", 1)),
        ("pretrain/node-ranks", lambda text: text.replace(" 3\n", " 4\n", 1)),
        ("finetune/indexes.csv", lambda text: text.replace(",8,15", ",8,16", 1)),
        ("finetune/indexed-job.yaml", lambda text: text.replace("value: gpu", "value: gpx", 1).replace('value: "gpu', 'value: "gpx', 1)),
    ],
)
def test_a_file_that_says_something_else_is_caught(orders, path, spoilt):
    tree = files(*orders)
    assert list(faults(*orders, tree)) == []
    assert spoilt(tree[path]) != tree[path]
    assert list(faults(*orders, {**tree, path: spoilt(tree[path])}))


def test_an_order_of_other_hosts_is_caught_in_all_files_alike(orders):
    """Each file agrees with every other, and not with what was placed."""
    design, orderings = orders
    tree = files(design, orderings)
    job = next(o for o in orderings if o.job.name == "pretrain")
    one, other = job.placement.hosts[0], job.placement.hosts[-1]
    mixed = {path: text.replace(one, "@").replace(other, one).replace("@", other) if path.startswith("pretrain/") else text for path, text in tree.items()}
    assert any("not those of the placement" in fault for fault in faults(design, orderings, mixed))


def test_files_are_the_same_bytes_under_any_hash_seed(tmp_path):
    done = [
        subprocess.run([sys.executable, "-m", "iacgen", "place", SUPERPOD, "--format", "json"], env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(BLUEPRINTS.parent)}, capture_output=True, timeout=120)
        for seed in ("1", "2")
    ]
    assert done[0].returncode == 0 and done[0].stdout == done[1].stdout
