"""Topologies and orders on real Slurm: slurmctld reads the files of planned and of discovered fabrics as they are meant, and under trees and
blocks alike 32 slurmd put every rank where the emitted order has it."""

from __future__ import annotations

import importlib.util
import random
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from iacgen.design.fabric.planned import of_fabric
from iacgen.discovery import read as discovered
from iacgen.pipeline import run
from iacgen.placement.reread import of_slurm, reread
from iacgen.render import fold
from iacgen.render.order import order_files
from iacgen.targets import slurm
from iacgen.targets.slurm.blocks import runs
from iacgen.targets.slurm.topology import tree
from iacgen.targets.slurm.topology_files import YAML_SINCE, topology_files
from iacgen.verify import programs
from iacgen.verify.slurm.blocks import read_blocks, unreachable
from iacgen.verify.slurm.controller import complaints, started
from iacgen.verify.slurm.files import expand, lines
from iacgen.verify.slurm.installation import Installation, free_ports, munged, work_folder
from iacgen.verify.slurm.sandbox import machine_lines

TESTS = Path(__file__).parents[1]
SOURCES = TESTS / "cases" / "topology"
TREE_22, TREE_24 = (pytest.param(version, marks=pytest.mark.judge(f"slurm-{version}")) for version in ("22.05", "24.11"))


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"iacgen_tests_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


slurm_lab = _module(Path(__file__).with_name("slurm_lab.py"))
hierarchies = _module(TESTS / "targets" / "hierarchies.py")

RACKS = """kind: Cluster
schema: 1
name: racks
sites: {{hall: {{kind: on-prem, rack: {{power: 160kW, units: 48}}}}}}
nodes:
  gpu: {{site: hall, system: dgx-gb200, count: {count}}}
  ctl: {{site: hall, system: generic-1u, count: 1}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: roce, topology: rail-fat-tree, unit: {unit}, switch: sn5600{more}}}
  mgmt: {{site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, topology: fat-tree, switch: sn2201}}
scheduler: {{kind: slurm, version: "{version}", controllers: ctl, topology: {topology}}}
"""


@cache
def racks(version="24.11", topology="tree", count=32, unit=16, more=""):
    """GB200 trays, 18 in a domain of NVLink, in units of any size."""
    state = run(RACKS.format(version=version, topology=topology, count=count, unit=unit, more=more), "racks.yaml")
    assert state.project, state.findings
    return state.project


def shown(version, nodes, topology, files, name=""):
    """(what ``scontrol show topology`` prints of the topology ``name``, what slurmctld complains of) for topology files over ``nodes``."""
    found = programs.find(f"slurm-{version}")
    assert isinstance(found, programs.Found), found
    with work_folder() as work:
        installed = Installation(work, found.companion)
        for folder in ("state", "spool", "log"):
            (work / folder).mkdir()
        with munged(installed) as socket:
            machine = machine_lines(work, socket, free_ports(2))
            own = {"ClusterName": "any", "AuthType": "auth/munge", "CredType": "cred/munge", "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core", "MpiDefault": "none"}
            keys = machine | own | {"ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none"} | ({"TopologyPlugin": f"topology/{topology}"} if topology else {})
            text = "".join(f"{key}={value}\n" for key, value in keys.items())
            (work / "slurm.conf").write_text(f"{text}NodeName={fold(nodes)} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES\n")
            for file, conf in files.items():
                (work / file).write_text(conf)
            with installed.daemon("slurmctld", "slurmctld", "-D", "-i", "-f", work / "slurm.conf") as controller:
                assert started(installed, controller), controller.said
                return installed.run("scontrol", "show", "topology", *filter(None, [name])).out, complaints(controller.said)


def below(text):
    """Switch → the hosts that Slurm has below it: of a parent too it prints them."""
    return {line.get("SwitchName"): frozenset(expand(line.get("Nodes"))) for line in lines(text)}


def planned():
    """Units that hold whole racks, units that cut them, and pods."""
    for count, unit, more in ((80, 36, ""), (80, 16, ""), (96, 16, ", tiers: 3, pod: 2")):
        project = racks(count=count, unit=unit, more=more)
        fabric = project.design.fabrics["compute"]
        yield of_fabric(fabric, None, project.design.pools)
        yield of_fabric(fabric)


def groups(hierarchy):
    """The host sets of all tiers that Slurm's tree has a place for: by the labels alone, whatever the target made of them."""
    joined = {d: frozenset(h for h, of in zip(hierarchy.hosts, hierarchy.domains, strict=True) if of == d) for d in set(hierarchy.domains) - {None}}
    out = set(joined.values())
    free = frozenset(hierarchy.hosts) - frozenset().union(*out)
    if joined:  # what is left of a leaf hangs on it alone
        leaves = {g: {h for h, label in zip(hierarchy.hosts, hierarchy.labels[0], strict=True) if label == g} for g in set(hierarchy.labels[0].tolist())}
        out |= {frozenset(leaf & free) for leaf in leaves.values() if leaf & free}
    for row in hierarchy.labels.tolist():
        parts = {frozenset(h for h, label in zip(hierarchy.hosts, row, strict=True) if label == g) for g in set(row)}
        if all(any(rack <= part for part in parts) for rack in joined.values()):
            out |= parts
    return out


@pytest.mark.parametrize("version", [TREE_22, TREE_24])
def test_slurm_shows_the_tree_of_a_planned_fabric(version):
    for hierarchy in planned():
        text, said = shown(version, hierarchy.hosts, "tree", topology_files("any", [hierarchy], (22, 5)))
        assert set(below(text).values()) == groups(hierarchy)
        assert said == []


@pytest.mark.parametrize("version", [TREE_22, TREE_24])
def test_slurm_shows_the_tree_that_was_written_down(version):
    for case in hierarchies.cases():
        text, said = shown(version, case.hierarchy.hosts, "tree", topology_files("any", [case.hierarchy], (22, 5)))
        assert below(text) == case.tree, case.id
        assert [line for line in said if len(case.roots) == 1 or "no switch can reach all nodes" not in line] == [], case.id


@pytest.mark.parametrize("version", [TREE_22, TREE_24])
def test_slurm_shows_the_trees_of_discovered_fabrics(version):
    """Every sample of what clouds, subnet managers and schedulers say: as Slurm has it, the groups are those that were read."""
    seen = 0
    for file in sorted(SOURCES.iterdir()):
        for hierarchy in discovered(file.read_bytes(), file.name).hierarchies if file.name != "expected.yaml" else ():
            text, said = shown(version, hierarchy.hosts, "tree", topology_files("any", [hierarchy], (22, 5)))
            assert set(below(text).values()) == groups(hierarchy), file.name
            assert [line for line in said if hierarchy.islands == 1 or "no switch can reach all nodes" not in line] == [], file.name
            seen += 1
    assert seen >= 15


@pytest.mark.judge("slurm-24.11")
def test_slurm_shows_the_blocks_of_planned_and_discovered_fabrics():
    seen = 0
    for hierarchy in (*planned(), *(h for file in sorted(SOURCES.iterdir()) if file.name != "expected.yaml" for h in discovered(file.read_bytes(), file.name).hierarchies)):
        files = topology_files("any", [hierarchy], (24, 11), "block")
        if not isinstance(files, dict):
            assert None in (hierarchy.domains or (None,))
            continue
        text, said = shown("24.11", hierarchy.hosts, "block", files)
        got, domains = read_blocks(text), set(hierarchy.domains)
        assert set(got.order) == {frozenset(h for h, of in zip(hierarchy.hosts, hierarchy.domains, strict=True) if of == d) for d in domains}
        base = min(len(block) for block in got.order)
        assert sorted(got.aggregates) == [base << n for n in range(len(domains).bit_length())]
        assert said == []
        seen += 1
    assert seen >= 4


def newer():
    """A Slurm that reads topology.yaml, as IACGEN_SLURM_TREES may have one. No blueprint declares it, so it is no judge of a tree."""
    found = [one for one in programs.slurms() if tuple(map(int, one.version.split(".")[:2])) >= YAML_SINCE]
    if not found:
        pytest.skip("no Slurm of 25.05 or later: debootstrap one with slurmctld, slurmd and slurm-client into a folder of IACGEN_SLURM_TREES")
    return ".".join(found[0].version.split(".")[:2])


def test_a_newer_slurm_shows_the_trees_and_blocks_of_topology_yaml():
    version, blocks = newer(), 0
    for hierarchy in (*planned(), *(case.hierarchy for case in hierarchies.cases())):
        files = topology_files("any", [hierarchy], YAML_SINCE)
        text, said = shown(version, hierarchy.hosts, "", files)
        assert set(below(text).values()) == groups(hierarchy)
        assert [line for line in said if hierarchy.islands == 1 or "no switch can reach all nodes" not in line] == []
        if "topology: nvlink" in files["topology.yaml"]:
            text, _ = shown(version, hierarchy.hosts, "", files, "nvlink")
            got = read_blocks(text)
            assert set(got.order) == {frozenset(h for h, of in zip(hierarchy.hosts, hierarchy.domains, strict=True) if of == d) for d in set(hierarchy.domains)}
            blocks += 1
    assert blocks >= 3


PROBE = 'mkdir -p "$SLURM_SUBMIT_DIR/seen" && echo "$SLURMD_NODENAME $LOCAL_RANK $SLURM_TOPOLOGY_ADDR $MASTER_ADDR $WORLD_SIZE $CUDA_VISIBLE_DEVICES" >"$SLURM_SUBMIT_DIR/seen/$RANK"'


@pytest.mark.parametrize(
    ("version", "topology"),
    [
        pytest.param("22.05", "tree", marks=pytest.mark.judge("slurm-22.05")),
        pytest.param("24.11", "tree", marks=pytest.mark.judge("slurm-24.11")),
        pytest.param("24.11", "block", marks=pytest.mark.judge("slurm-24.11")),
    ],
)
def test_ranks_in_a_job_sit_where_the_emitted_file_has_them(version, topology):
    """32 slurmd; an order that no name and no switch would give. The rank file and the script are those that ``place`` writes."""
    project = racks(version, topology)
    check_ranks(version, topology, project, slurm.render(project))


@pytest.mark.parametrize("topology", ["tree", "block"])
def test_ranks_sit_there_too_under_topology_yaml(topology):
    version, project = newer(), racks("24.11", topology)
    files = slurm.render(project)
    files["slurm/topology.yaml"] = topology_files("racks", slurm.topology.hierarchies(project.design, [project.design.pools["gpu"]]), YAML_SINCE, topology)["topology.yaml"]
    check_ranks(version, topology, project, {name: text for name, text in files.items() if name != "slurm/topology.conf"})


def check_ranks(version, topology, project, written):
    """Start ``written`` on 32 nodes, run a job in an order by chance, and hold what each rank saw to the rank file that the job read."""
    nodes = project.design.pools["gpu"].hosts
    hosts = list(nodes)
    random.Random(32).shuffle(hosts)
    del hosts[30:]
    files = order_files("probe", hosts, 4)
    tree_ = {**written, **files, "probe.sh": f"#!/bin/bash\n{PROBE}\n"}
    # This machine has no driver that would make the channels.
    tree_["slurm/slurm.conf"] = tree_["slurm/slurm.conf"].replace("SwitchType=switch/nvidia_imex\n", "")
    switches = {host: switch.name for switch in tree(slurm.topology.hierarchies(project.design, [project.design.pools["gpu"]])).switches for host in expand(switch.nodes)}
    blocks = {host: f"block{1 + (int(host[3:]) - 1) // 18}" for host in nodes}  # 18 trays a rack (NVIDIA DGX GB200)

    with slurm_lab.lab(version, tree_, nodes, set(nodes)) as lab:
        lab.shell("sbatch --wait --output=probe.out probe.sbatch bash ./probe.sh || { cat probe.out; exit 1; }")
        seen = {int(file.name): file.read_text().split() for file in (lab.folder / "seen").iterdir()}
        emitted = of_slurm("probe.ranks", (lab.folder / "probe.ranks").read_text(), 4)

    assert reread(files, 4, nodes) == (tuple(hosts), [])
    above = {host: f"compute-spine.{switches[host]}" if topology == "tree" else blocks[host] for host in nodes}
    wanted = [[host, str(local), f"{above[host]}.{host}", hosts[0], "120", "0,1,2,3"] for host, local in zip(emitted.hosts, emitted.local, strict=True)]
    assert [seen[rank] for rank in range(120)] == wanted


@pytest.mark.judge("slurm-24.11")
def test_slurm_refuses_the_lists_of_hosts_that_the_rule_names():
    """Eight blocks of four by two sizes, and forty lists by chance that lie in one to eight of them."""
    nodes, chance = racks().design.pools["gpu"].hosts, random.Random(24)
    block = {host: number // 4 for number, host in enumerate(nodes)}
    written = slurm.render(racks())
    written["slurm/slurm.conf"] = written["slurm/slurm.conf"].replace("SwitchType=switch/nvidia_imex\n", "").replace("topology/tree", "topology/block")
    written["slurm/topology.conf"] = "".join(f"BlockName=b{n} Nodes={fold(nodes[4 * n : 4 * n + 4])}\n" for n in range(8)) + "BlockSizes=4,16\n"
    lists = [sorted(chance.sample(nodes[: 4 * chance.randint(1, 8)], chance.randint(1, 4))) for _ in range(20)]
    lists += [sorted(host for n in chance.sample(range(8), chance.randint(1, 8)) for host in nodes[4 * n : 4 * n + chance.randint(2, 4)]) for _ in range(20)]
    with slurm_lab.lab("24.11", written, nodes, set(nodes)) as lab:
        read = read_blocks(lab.shell("scontrol show topology"))
        answers = [lab.slurm.run("sbatch", "--test-only", "--exclusive", f"--nodes={len(some)}", f"--nodelist={fold(some)}", "--wrap=true").ok for some in lists]
    assert answers == [runs([block[host] for host in some], (4, 16)) for some in lists]
    assert answers == [not unreachable(some, read) for some in lists]
    assert 8 <= sum(answers) <= 32
