"""Both judges on the files of a tree, as ``iacgen verify`` asks them: they accept what iacgen writes and refuse what a hand spoils."""

import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import fabric as target
from iacgen.verify import fabric as opensm
from iacgen.verify.fabric import simgrid
from iacgen.verify.fabric.plan import of_fabric
from iacgen.verify.fabric.settings import planned
from iacgen.verify.fabric.tree import ListError, lists

# Two units of eight nodes by eight rails, the second two nodes short, two spines; opensm on ports of its own hosts; storage on one switch.
BLUEPRINT = """
kind: Cluster
schema: 1
name: pod
sites: {hall: {kind: on-prem, rack: {power: 80kW, units: 48}, cooling: {kind: rear-door, capacity: 900kW, redundancy: N+1, supply_c: 30}}}
nodes:
  gpu: {site: hall, system: dgx-h100, count: 14}
  oss: {site: hall, system: lustre-oss, count: 2}
  mds: {site: hall, system: lustre-mds, count: 2}
  ctl: {site: hall, system: generic-1u, count: 2}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, unit: 8, manager: {kind: opensm, pool: ctl}}
  storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, topology: fat-tree, switch: qm9700, manager: {kind: opensm, pool: mds}}
  mgmt: {site: hall, purpose: management, connects: [gpu, oss, mds, ctl], technology: ethernet, topology: fat-tree, switch: sn2201}
"""


@pytest.fixture(scope="module")
def project():
    state = run(BLUEPRINT, "pod.yaml", "lab")
    assert state.project, state.findings
    return state.project


@pytest.fixture
def tree(project, tmp_path):
    apply(plan(target.render(project), tmp_path / "out"), tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.judge("opensm", "simgrid")
def test_both_accept_what_iacgen_writes(tree, project):
    for judge in (opensm, simgrid):
        verdict = judge.verify(tree, project)
        assert (verdict.status, verdict.findings) == ("passed", ()) and verdict.version and verdict.proves


# What differs from two tiers of rails; nodes, and the shape.
SHAPES = {
    "three tiers": (16, "topology: rail-fat-tree, unit: 4, tiers: 3, pod: 2"),
    "dragonfly": (12, "topology: dragonfly, group: {hosts: 16, leaves: 2, links: 2}"),
    "dragonfly of low ports": (12, "topology: dragonfly, group: {hosts: 8, leaves: 4, links: 2}"),
    "dragonfly-plus": (12, "topology: dragonfly-plus, group: {hosts: 8, leaves: 4, spines: 4, links: 4}"),
    "dragonfly of sizes that nobody gave": (20, "topology: dragonfly"),
    "dragonfly-plus of sizes that nobody gave": (20, "topology: dragonfly-plus"),
    "one leaf below the spines that it will need": (3, "topology: fat-tree, tiers: 2"),
    "a second leaf with one host": (4, "topology: fat-tree, tiers: 2"),
}


@pytest.mark.judge("opensm")
@pytest.mark.parametrize("shape", SHAPES)
def test_opensm_accepts_the_trees_of_other_shapes(shape, tmp_path):
    """The files as they are written, not settings made for the test: engine, lanes, roots and the numbers of low ports."""
    nodes, words = SHAPES[shape]
    text = BLUEPRINT.replace("count: 14}", f"count: {nodes}, grow_to: {nodes + 4}}}").replace("topology: rail-fat-tree, switch: qm9700, unit: 8", f"{words}, switch: qm9700")
    state = run(text, "pod.yaml", "lab")
    assert state.project, state.findings
    apply(plan(target.render(state.project), tmp_path / "out"), tmp_path / "out")
    verdict = opensm.verify(tmp_path / "out", state.project)
    assert (verdict.status, verdict.findings) == ("passed", ())


def swapped(text, column):
    """The first two rows with what stands in the columns from ``column`` on exchanged."""
    head, one, two, *rest = text.splitlines(keepends=True)
    a, b = one.split(","), two.split(",")
    a[column:], b[column:] = b[column:], a[column:]
    return "".join([head, ",".join(a), ",".join(b), *rest])


def without_line(text, word):
    return "".join(line for line in text.splitlines(keepends=True) if word not in line)


SPOILT = {
    "host cables exchanged": ("compute/cables.csv", lambda t: swapped(t, 5), "wiring-not-of-plan"),
    "a cable dropped": ("compute/p2p.csv", lambda t: "".join(t.splitlines(keepends=True)[:-1]), "wiring-not-of-plan"),
    "a port claimed twice": ("compute/cables.csv", lambda t: t + t.splitlines(keepends=True)[-1], "malformed-cable-list"),
    "a port that is not there": ("compute/cables.csv", lambda t: t.rstrip("\n").rpartition(",")[0] + ",65\n", "malformed-cable-list"),
    "an adapter under another number": ("compute/hca-map.csv", lambda t: t.replace("mlx5_0", "mlx5_9"), "malformed-cable-list"),
    "a column renamed": ("compute/cables.csv", lambda t: t.replace("Z-Port", "Z Port"), "malformed-cable-list"),
    "a word left out": ("compute/p2p.csv", lambda t: t.replace("compute-spine1,", ",", 1), "malformed-cable-list"),
    "an engine that may fall back": ("compute/opensm.conf", lambda t: t.replace(",no_fallback", ""), "other-routing-engine"),
    "an engine for irregular fabrics": ("compute/opensm.conf", lambda t: t.replace("ftree", "lash"), "congested-link"),
    "an engine that routes as well": ("compute/opensm.conf", lambda t: t.replace("ftree", "updn"), "other-routing-engine"),
    "an engine behind the planned one": ("compute/opensm.conf", lambda t: t.replace("ftree,", "ftree,updn,"), "other-routing-engine"),
    "an engine that nobody knows": ("compute/opensm.conf", lambda t: t.replace("ftree,no_fallback", "ftre"), "other-routing-engine"),
    "a relative path": ("compute/opensm.conf", lambda t: t.replace("root_guid_file /etc/opensm/", "root_guid_file "), "opensm-refused"),
    "a file under another name": ("compute/opensm.conf", lambda t: t.replace("/compute-partitions", "/other-partitions"), "opensm-refused"),
    "a forgotten colon": ("compute/partitions.conf", lambda t: t.replace("mtu=5:", "mtu=5"), "partition-not-of-plan"),
    "a partition dropped": ("storage/partitions.conf", lambda t: without_line(t, "Default="), "partition-not-of-plan"),
    "a root forgotten": ("compute/plan.csv", lambda t: t.replace("compute-spine1,spine,compute-spine1,,root,", "compute-spine1,spine,compute-spine1,,,"), "unused-link"),
    "a switch that the plan does not know": ("compute/plan.csv", lambda t: without_line(t, "switch,compute-spine1,"), "opensm-refused"),
    "a script that finds nothing": ("compute/guids.sh", lambda t: "exit 0\n", "opensm-refused"),
    "no cable list": ("compute/cables.csv", None, "malformed-cable-list"),
    "no settings": ("storage/opensm.conf", None, "malformed-cable-list"),
}


@pytest.mark.judge("opensm")
@pytest.mark.parametrize("what", SPOILT)
def test_opensm_refuses_what_a_hand_spoils(tree, project, what):
    name, spoil, slug = SPOILT[what]
    file = tree / "fabric" / name
    if spoil is None:
        file.unlink()
    else:
        before = file.read_text()
        file.write_text(spoil(before))
        assert file.read_text() != before
    verdict = opensm.verify(tree, project)
    assert verdict.status == "failed" and slug in {f.slug for f in verdict.findings}, verdict.findings
    assert all(f.path[:1] == ("fabrics",) for f in verdict.findings)


def test_the_lists_hold_the_links_of_the_design(tree, project):
    for name in ("compute", "storage"):
        wanted = set(of_fabric(project.design.fabrics[name]).links)
        listed = lists(tree / "fabric" / name)
        assert set(listed.cables) == set(listed.p2p) == wanted


@pytest.mark.judge("opensm")
def test_a_verdict_on_a_fabric_of_ufm_tells_that_opensm_stood_in(tmp_path):
    """It passes, and says of what nothing is known; the storage fabric, which opensm manages, is not spoken of."""
    state = run(BLUEPRINT.replace("kind: opensm, pool: ctl", "kind: ufm, pool: ctl"), "pod.yaml", "lab")
    apply(plan(target.render(state.project), tmp_path / "out"), tmp_path / "out")
    verdict = opensm.verify(tmp_path / "out", state.project)
    (told,) = verdict.findings
    assert (verdict.status, told.slug, told.severity, told.path) == ("passed", "fabric-judged-in-part", "info", ("fabrics", "compute"))
    assert told.message.startswith("UFM manages compute: opensm stood in for it")


def test_the_roots_of_three_tiers_are_the_cores():
    """As the script reads them that writes the file of roots: ftree turns round there, and takes spines for roots without a word."""
    text = BLUEPRINT.replace("count: 14}", "count: 16}").replace("unit: 8", "unit: 4, tiers: 3, pod: 2")
    made = target.render(run(text, "pod.yaml", "lab").project)
    rows = csv.DictReader(io.StringIO(made["fabric/compute/plan.csv"]))
    assert {row["role"] for row in rows if row["guids"] == "root"} == {"core"}


def test_what_an_ethernet_fabric_has_nobody_reads(tree):
    assert opensm.applies(tree) and simgrid.applies(tree)
    assert not any(pattern.startswith("fabric/mgmt/") for pattern in opensm.reads(tree))
    assert "fabric/compute/guids.sh" in opensm.reads(tree)


def test_ranks_are_those_of_the_largest_job_on_the_fabric(project, tmp_path):
    """In the order of the file by which it is started; a job of hosts elsewhere is none of it, and a storage fabric has no ranks of a job."""
    hosts = project.design.fabrics["compute"].hosts
    jobs = {"small": hosts[:2], "large": hosts[9:2:-1], "elsewhere": (*hosts[:9], "other0001"), "smaller": hosts[4:7]}
    placed = replace(project, placements={name: SimpleNamespace(hosts=on) for name, on in jobs.items()})
    written = tmp_path / "training/large/hostfile"
    written.parent.mkdir(parents=True)
    written.write_text("# by rank\n" + "".join(f"{host} slots=8\n" for host in hosts[3:10]))
    assert opensm.ranked(tmp_path, placed, project.design.fabrics["compute"]) == hosts[3:10]
    assert opensm.ranked(tmp_path, placed, project.design.fabrics["storage"]) == () == opensm.ranked(tmp_path, replace(project, placements={}), project.design.fabrics["compute"])
    written.unlink()
    with pytest.raises(ListError, match="large/hostfile is missing"):
        opensm.ranked(tmp_path, placed, project.design.fabrics["compute"])


def test_a_switch_has_the_ports_of_its_slowest_link(fabrics, monkeypatch):
    """A leaf with hosts of 200 Gb/s has its cages split, whatever else is in them; a spine has not. Were the lanes of the slow adapters as
    fast as those of the switch: with slower ones no more than two of them share a cage."""
    known = catalog.nic
    monkeypatch.setattr(catalog, "nic", lambda name: known(name).model_copy(update={"form": "qsfp112"}))
    fabric = fabrics.designed(12, topology="fat-tree", others={"cpu": ("generic-1u", 9)})
    made, switch = of_fabric(fabric), fabric.switch
    slow = {cable.b for cable in fabric.wiring() if cable.gbps == 200}
    assert slow and {switch.ports(200), switch.ports(400)} == {128, 64}
    assert {name: made.ports[name] for name in fabric.leaves} == {name: 128 if name in slow else 64 for name in fabric.leaves}
    assert {made.ports[name] for name in fabric.spines} == {64} and made.host_gbps == 200 and made.trunk_gbps == 400


def test_without_an_infiniband_fabric_nobody_is_asked(tmp_path, project):
    design = replace(project.design, fabrics={"mgmt": project.design.fabrics["mgmt"]})
    other = replace(project, design=design)
    assert opensm.verify(tmp_path, other).status == simgrid.verify(tmp_path, other).status == "not-applicable"


def test_a_list_that_is_missing_is_named(tmp_path):
    with pytest.raises(ListError, match="ports.csv is missing"):
        lists(tmp_path)


@pytest.mark.judge("opensm", "simgrid")
def test_a_simulator_that_gives_no_time_is_no_proof(tree, project, monkeypatch):
    monkeypatch.setattr(simgrid, "simulated_s", lambda *_: (None, "it died"))
    verdict = simgrid.verify(tree, project)
    assert verdict.status == "missing" and {f.slug for f in verdict.findings} == {"simgrid-not-judged"}


@pytest.mark.judge("opensm")
@pytest.mark.parametrize(
    ("count", "engine", "lanes", "wanted"),
    [
        (128, "ftree", False, {"topology": "rail-fat-tree", "unit": 32}),  # four whole units: 1,024 adapters
        (31, "ftree", False, {"topology": "rail-fat-tree", "unit": 32}),
        (40, "ftree", False, {"topology": "rail-fat-tree", "unit": 16}),  # the third unit half filled
        (16, "minhop", False, {"topology": "rail-only", "unit": 16}),
        (33, "ftree", False, {"topology": "fat-tree"}),
        (24, "ftree", False, {"topology": "rail-fat-tree", "unit": 8, "tiers": 3, "pod": 2}),  # the second pod half filled
        (24, "ftree", False, {"topology": "rail-fat-tree", "unit": 8, "tiers": 3, "pod": 1, "cores": "fewest"}),
        (9, "dfsssp", True, {"topology": "dragonfly", "group": {"hosts": 8, "leaves": 1, "links": 8}}),
        (16, "dfsssp", True, {"topology": "dragonfly-plus", "group": {"hosts": 8, "leaves": 2, "spines": 2}}),
    ],
)
def test_what_the_designer_wires_passes(fabrics, count, engine, lanes, wanted):
    """Real switches of 64 ports, whole nodes of eight adapters."""
    fabric = fabrics.designed(count, **wanted)
    for subnet in fabric.subnets[:2]:
        part = of_fabric(subnet, fabric.rank_order)
        _, slugs, findings = fabrics.examine(part, planned(part, engine, "Default=0x7fff,ipoib,mtu=5: ALL=full, ALL_SWITCHES=full, SELF=full;\n", lanes))
        assert not slugs, findings
