"""The Slurm files: right for the version, folded, and in agreement with the design and the placement."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import slurm
from iacgen.targets.slurm.nodes import gres_lines, node_line, ranks_follow_sockets
from iacgen.targets.slurm.topology import MAX_NAME, topology
from iacgen.targets.slurm.versions import WORDS, parse_version, word_lists
from iacgen.verify.slurm.expected import implied, read
from iacgen.verify.slurm.files import expand, lines
from iacgen.verify.slurm.words import DEAD_KEYS, unknown_words

CASES = Path(__file__).parents[1] / "cases" / "slurm"


def project_of(text: str):
    state = run(text, "case.yaml")
    assert state.project, state.findings
    return state.project


@cache
def shipped(name: str):
    return project_of((data_folder("blueprints") / f"{name}.yaml").read_text())


@cache
def case(name: str):
    return project_of((CASES / f"{name}.yaml").read_text())


def conf(tree: dict[str, str], file: str = "slurm.conf") -> list:
    return list(lines(tree[f"slurm/{file}"]))


def value(tree: dict[str, str], key: str) -> str:
    return next((line.get(key) for line in conf(tree) if line.kind == key.lower()), "")


def test_superpod_is_four_units_below_one_parent():
    """DGX SuperPOD H100, four scalable units with one node missing in the first, where the manager is cabled (NVIDIA reference architecture, network fabrics)."""
    parsed = conf(slurm.render(shipped("superpod-h100")), "topology.conf")
    assert [len(expand(line.get("Nodes"))) for line in parsed] == [31, 32, 32, 32, 0]
    assert expand(parsed[-1].get("Switches")) == [line.get("SwitchName") for line in parsed[:-1]]
    assert not any(host in line.get("Nodes") for line in parsed for host in ("ctl", "login", "oss", "mds", "ufm"))


def test_one_line_a_pool():
    tree = slurm.render(shipped("superpod-h100"))
    (node,) = [line for line in conf(tree) if line.kind == "nodename"]
    assert node.get("NodeName") == "gpu[0001-0127]"
    assert len(conf(tree, "gres.conf")) == 1 + 2  # AutoDetect, and a line a socket


def test_ten_thousand_nodes_stay_a_short_file():
    project = shipped("lab")
    pool = replace(project.design.pools["gpu"], count=9999)
    project = replace(project, design=replace(project.design, pools={**project.design.pools, "gpu": pool}, fabrics={"mgmt": project.design.fabrics["mgmt"]}), placements={})
    tree = slurm.render(project)
    (node,) = [line for line in conf(tree) if line.kind == "nodename"]
    assert node.get("NodeName") == "gpu[0001-9999]"
    assert max(len(text) for text in tree.values()) < 10_000


def test_management_addresses_follow_the_names_one_by_one():
    project = shipped("superpod-h100")
    (node,) = [line for line in conf(slurm.render(project)) if line.kind == "nodename"]
    hosts = expand(node.get("NodeName"))
    assert expand(node.get("NodeAddr")) == [str(project.design.address(host)) for host in hosts]
    assert len(hosts) == 127


def test_cloud_nodes_are_static_and_go_by_their_names():
    tree = slurm.render(shipped("aws-p5"))
    (node,) = [line for line in conf(tree) if line.kind == "nodename"]
    assert (node.get("NodeAddr"), node.get("State")) == ("", "UNKNOWN")
    assert [(line.get("SwitchName"), line.get("Nodes")) for line in conf(tree, "topology.conf")] == [("gpu-placement", "gpu[0001-0016]")]
    assert {line.get("File") for line in conf(tree, "gres.conf")[1:]} == {"/dev/nvidia[0-3]", "/dev/nvidia[4-7]"}


@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_no_word_or_key_that_the_version_does_not_know(name):
    project = shipped(name)
    version = parse_version(project.design.scheduler.version)
    pairs = [pair for line in conf(slurm.render(project)) for pair in line.pairs]
    assert [key for key, _ in pairs if key.lower() in DEAD_KEYS] == []
    assert [word for key, value in pairs for word in unknown_words(key, value, version)] == []


def test_topology_words_are_gated():
    assert word_lists((22, 5))["TopologyParam"] == ""
    assert word_lists((23, 2))["TopologyParam"] == "SwitchAsNodeRank"
    assert word_lists((24, 11))["TopologyParam"] == "SwitchAsNodeRank,RouteTree"
    assert not [line for line in conf(slurm.render(shipped("lab"))) if line.kind == "topologyparam"]
    assert value(slurm.render(shipped("superpod-h100")), "TopologyParam") == "SwitchAsNodeRank,RouteTree"


def test_every_gate_opens_before_it_closes():
    assert [w for w in WORDS if w.since > w.until] == []


def test_pid_files_follow_the_units():
    assert value(slurm.render(shipped("lab")), "SlurmctldPidFile") == "/run/slurmctld.pid"
    assert value(slurm.render(shipped("superpod-h100")), "SlurmctldPidFile") == "/run/slurmctld/slurmctld.pid"


@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_slurm_promises_less_memory_than_there_is(name):
    (pool,) = [pool for pool in shipped(name).design.pools.values() if pool.gpu]
    node = node_line(shipped(name).design, pool)
    assert node.real_memory_mib == node.memory_mib * 95 // 100
    assert 0 < node.reserved_mib < node.real_memory_mib // 4
    (line,) = [line for line in conf(slurm.render(shipped(name))) if line.kind == "nodename"]
    assert line.get("RealMemory") == str(node.real_memory_mib)


def test_small_machines_keep_an_eighth_at_most():
    pool = shipped("lab").design.pools["ctl"]
    small = replace(pool, system=pool.system.model_copy(update={"memory_gib": 16}))
    assert node_line(shipped("lab").design, small).reserved_mib == 16 * 1024 * 95 // 100 // 8


def test_processors_agree_with_their_product():
    (line,) = [line for line in conf(slurm.render(shipped("superpod-h100"))) if line.kind == "nodename"]
    cpus, boards, sockets, cores, threads = (int(line.get(key)) for key in ("CPUs", "Boards", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"))
    assert cpus == boards * sockets * cores * threads == 224  # DGX H100: two processors of 56 cores, two threads each


@pytest.mark.parametrize(
    ("sockets", "files"),
    [
        ((0, 0, 0, 0, 1, 1, 1, 1), [("/dev/nvidia[0-3]", "0-55"), ("/dev/nvidia[4-7]", "56-111")]),
        ((1, 1, 1, 1, 0, 0, 0, 0), [("/dev/nvidia[0-3]", "56-111"), ("/dev/nvidia[4-7]", "0-55")]),
        ((0, 1, 1, 0, 0, 0, 1, 1), [("/dev/nvidia0", "0-55"), ("/dev/nvidia[1-2]", "56-111"), ("/dev/nvidia[3-5]", "0-55"), ("/dev/nvidia[6-7]", "56-111")]),
        ((), [("/dev/nvidia[0-7]", "")]),
    ],
    ids=["in-order", "reversed", "mixed", "unknown"],
)
def test_gpus_stand_with_the_cores_of_their_socket(sockets, files):
    pool = shipped("superpod-h100").design.pools["gpu"]
    pool = replace(pool, system=pool.system.model_copy(update={"gpu_numa": sockets}))
    assert [(line.files, line.cores) for line in gres_lines(pool)] == files
    assert ranks_follow_sockets(pool) == (sockets == (0, 0, 0, 0, 1, 1, 1, 1))


def test_ranks_are_bound_only_where_blocks_of_cores_lie_on_their_sockets():
    project = shipped("superpod-h100")
    assert "--cpu-bind=cores" in slurm.render(project)["slurm/pretrain.sbatch"]
    pool = project.design.pools["gpu"]
    turned = replace(pool, system=pool.system.model_copy(update={"gpu_numa": (1, 1, 1, 1, 0, 0, 0, 0)}))
    project = replace(project, design=replace(project.design, pools={**project.design.pools, "gpu": turned}))
    assert "--cpu-bind=none" in slurm.render(project)["slurm/pretrain.sbatch"]


def test_hosts_that_are_down_are_said_to_be():
    (line,) = [line for line in conf(slurm.render(case("interleaved"))) if line.kind == "downnodes"]
    assert [line.get(key) for key in ("DownNodes", "State", "Reason")] == ["gpu0007", "DOWN", "listed as down in the blueprint"]
    assert "DownNodes" not in slurm.render(shipped("lab"))["slurm/slurm.conf"]


def test_the_rank_file_is_the_placement():
    for project in (shipped("superpod-h100"), case("interleaved")):
        tree = slurm.render(project)
        for name, placement in project.placements.items():
            ranks = tree[f"slurm/{name}.ranks"].removesuffix("\n").split("\n")
            assert ranks == [placement.host_of(rank) for rank in range(placement.world)]


def test_interleaved_names_go_to_their_units():
    parsed = conf(slurm.render(case("interleaved")), "topology.conf")
    assert parsed[0].get("Nodes") == "gpu[0001,0005,0009,0013,0017,0021,0025,0029]"
    assert len(parsed) == 5


def test_the_script_asks_for_the_hosts_of_the_placement():
    script = slurm.render(case("interleaved"))["slurm/probe.sbatch"]
    header = dict(line.removeprefix("#SBATCH --").partition("=")[::2] for line in script.splitlines() if line.startswith("#SBATCH"))
    assert header["nodelist"] == "gpu[0001-0006,0008-0032]"
    assert (header["nodes"], header["ntasks-per-node"], header["gpus-per-node"]) == ("31", "8", "8")
    assert {"exclusive", "requeue"} <= set(header)
    assert not {"distribution", "gpus-per-task", "switches"} & set(header)


def test_a_job_goes_to_the_queue_that_holds_its_pool():
    script = slurm.render(case("hybrid"))["slurm/tune.sbatch"]
    assert "#SBATCH --partition=burst\n" in script
    assert "#SBATCH --time=1-00:00:00\n" in script


def test_a_pool_without_a_queue_is_an_error():
    project = case("hybrid")
    scheduler = replace(project.design.scheduler, partitions=tuple(p for p in project.design.scheduler.partitions if p.name == "train"))
    with pytest.raises(LookupError, match="cloud"):
        slurm.render(replace(project, design=replace(project.design, scheduler=scheduler)))


def test_hybrid_trees_say_why_nothing_joins_them():
    text = slurm.render(case("hybrid"))["slurm/topology.conf"]
    assert "# No switch joins compute-spine, cloud-placement:" in text
    assert "No switch joins" not in slurm.render(shipped("superpod-h100"))["slurm/topology.conf"]


def test_a_second_controller_needs_shared_state():
    alone = slurm.render(case("hybrid"))
    assert [line.get("SlurmctldHost").partition("(")[0] for line in conf(alone) if line.kind == "slurmctldhost"] == ["ctl0001"]
    assert "# ctl0002 is no backup yet" in alone["slurm/slurm.conf"]
    assert value(alone, "StateSaveLocation") == "/var/spool/slurmctld"

    aws = shipped("aws-p5")
    head = replace(aws.design.pools["head"], count=2)
    scheduler = replace(aws.design.scheduler, controllers=("head0001", "head0002"))
    both = slurm.render(replace(aws, design=replace(aws.design, pools={**aws.design.pools, "head": head}, scheduler=scheduler)))
    assert [line.get("SlurmctldHost") for line in conf(both) if line.kind == "slurmctldhost"] == ["head0001", "head0002"]
    assert value(both, "StateSaveLocation") == "/fsx/slurm/aws-p5/state"

    hall = shipped("superpod-h100")
    assert value(slurm.render(hall), "StateSaveLocation") == "/var/spool/slurmctld"
    scratch = replace(hall.design.storage["scratch"], clients=("ctl", "gpu"))
    mounted = slurm.render(replace(hall, design=replace(hall.design, storage={"scratch": scratch})))
    assert value(mounted, "StateSaveLocation") == "/scratch/slurm/superpod-h100/state"


def test_no_scheduler_no_files():
    project = shipped("lab")
    assert slurm.render(replace(project, design=replace(project.design, scheduler=None))) == {}


def test_hosts_without_a_compute_fabric_share_a_switch():
    project = shipped("lab")
    design = replace(project.design, fabrics={"mgmt": project.design.fabrics["mgmt"]})
    tree = topology(design, [design.pools["gpu"]])
    assert [(switch.name, switch.nodes) for switch in tree.switches] == [("pool-gpu", "gpu[0001-0002]")]


def test_switch_names_stay_within_slurms_limit():
    project = shipped("superpod-h100")
    fabric = project.design.fabrics["compute"]
    long = replace(fabric, name="f" * 80, groups=tuple(replace(group, name=f"{'f' * 80}-{group.name}") for group in fabric.groups))
    design = replace(project.design, fabrics={"compute": long})
    names = [switch.name for switch in topology(design, [design.pools["gpu"]]).switches]
    assert len(set(names)) == 5
    assert {len(name) for name in names} == {MAX_NAME}


CLUSTER = """
kind: Cluster
schema: 1
name: any
sites: {{hall: {{kind: on-prem}}}}
nodes:
  gpu: {{site: hall, system: dgx-h100, count: {count}}}
  ctl: {{site: hall, system: generic-1u, count: 1}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: {topology}, switch: qm9700{rest}, manager: {{kind: opensm, pool: gpu}}}}
scheduler: {{kind: slurm, version: "24.11", controllers: ctl}}
"""


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(1, 32), st.sampled_from(["by-unit", "round-robin"]), st.sampled_from(["rail-fat-tree", "fat-tree"]))
def test_topology_is_the_tree_of_the_cables(count, unit, numbering, shape):
    """Whatever the size: every host in one leaf, and the leaves and parents those that the cables imply."""
    rest = f", unit: {unit}, numbering: {numbering}" if shape == "rail-fat-tree" else ""
    state = run(CLUSTER.format(count=count, topology=shape, rest=rest), "any.yaml")
    if state.project is None:
        assert {f.id for f in state.findings if f.severity == "error"} <= {"IAC211"}, state.findings  # too large for two tiers, or too large a unit
        return
    text = slurm.render(state.project)["slurm/topology.conf"]
    hosts = [host for line in lines(text) for host in expand(line.get("Nodes"))]
    assert sorted(hosts) == list(state.project.design.pools["gpu"].hosts)
    assert read(text)[0] == implied(state.project.design)
