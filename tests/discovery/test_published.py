"""Models of other projects, read where IACGEN_CASES names a folder with ``topology_models.json``: the same groups, sizes and domains."""

import json
import os
from pathlib import Path

import pytest

from iacgen.discovery import read
from iacgen.render.hostlist import expand
from iacgen.targets.slurm.topology_files import topology_files

FILE = Path(os.environ.get("IACGEN_CASES") or "/nowhere") / "topology_models.json"
CASES = json.loads(FILE.read_text()) if FILE.exists() else {"models": [], "other": []}
OTHER = {case["id"]: case for case in CASES["other"]}
needed = pytest.mark.skipif(not FILE.exists(), reason="IACGEN_CASES names no folder with topology_models.json")


@needed
def test_there_are_models():
    assert len(CASES["models"]) >= 3 and len(CASES["other"]) >= 3


def as_conf(model):
    lines = [f"SwitchName={name} Switches={','.join(children)}" for name, children in model["switch_children"].items()]
    return "\n".join([*lines, *(f"SwitchName={name} Nodes={','.join(nodes)}" for name, nodes in model["leaf_nodes"].items())])


def as_topograph(model, json_form):
    domains = {host: name for name, lists in model["accelerator_domains"].items() for text in lists for host in expand(text)}
    blocks = [{"switch": leaf, "nodes": nodes, "annotations": {"accelerator.topology.test/domain": domains[expand(nodes[0])[0]]}} for leaf, nodes in model["leaf_nodes"].items()]
    data = {"switches": {name: {"switches": children} for name, children in model["switch_children"].items()}, "blocks": blocks}
    return json.dumps(data) if json_form else "\n".join(["switches:", *(f"  {n}: {json.dumps(c)}" for n, c in data["switches"].items()), "blocks:", *(f"- {json.dumps(b)}" for b in blocks)])


def as_labels(model):
    """Nodes of Kubernetes as topograph labels them: tier-0 is the leaf."""
    above = {child: name for name, children in model["switch_children"].items() for child in children}
    domains = {host: name for name, lists in model["accelerator_domains"].items() for text in lists for host in expand(text)}
    items = []
    for leaf, nodes in model["leaf_nodes"].items():
        path = [leaf]
        while path[-1] in above:
            path.append(above[path[-1]])
        for host in (host for text in nodes for host in expand(text)):
            labels = {f"fabric.topograph.run/tier-{n}": name for n, name in enumerate(path)} | {"accelerator.topograph.run/domain": domains[host]}
            items.append({"kind": "Node", "metadata": {"name": host, "labels": labels}})
    return json.dumps({"kind": "List", "items": items})


FORMS = {"topology.conf": as_conf, "topograph": lambda m: as_topograph(m, False), "topograph as JSON": lambda m: as_topograph(m, True), "labels": as_labels}


@needed
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("model", CASES["models"], ids=[m["id"] for m in CASES["models"]])
def test_a_model_has_its_groups(model, form, meaning):
    found = read(FORMS[form](model).encode(), model["id"])
    assert not found.findings and not found.adrift and len(found.hierarchies) == 1
    hierarchy = found.hierarchies[0]
    assert len(hierarchy.hosts) == model["nodes"]
    expected = meaning.tree(model["expected"]["tree"])
    assert {name: hosts for tier in meaning.named(hierarchy) for name, hosts in tier.items()} == {name: set(hosts) for name, hosts in expected.items()}
    if form != "topology.conf":
        wanted = set(meaning.blocks(model["expected"]["block_auto"]).values())
        assert {frozenset(hosts) for hosts in meaning.domains(found.hierarchies).values()} == wanted


@needed
@pytest.mark.parametrize("model", CASES["models"], ids=[m["id"] for m in CASES["models"]])
def test_the_files_for_slurm_are_the_expected_ones(model, meaning):
    """Tree, blocks and sizes of the domains; names of blocks may differ."""
    (plain,) = read(as_conf(model).encode(), model["id"]).hierarchies
    assert meaning.tree(told(topology_files("any", [plain], (24, 11)))) == meaning.tree(model["expected"]["tree"])
    (hierarchy,) = read(as_labels(model).encode(), model["id"]).hierarchies
    lines = told(topology_files("any", [hierarchy], (24, 11), "block"))
    assert set(meaning.blocks(lines).values()) == set(meaning.blocks(model["expected"]["block_auto"]).values())
    assert [x for x in lines if x.startswith("BlockSizes")] == [x for x in model["expected"]["block_auto"] if x.startswith("BlockSizes")]


def told(files):
    return [line for line in files["topology.conf"].splitlines() if line and not line.startswith("#")]


@needed
@pytest.mark.parametrize("model", CASES["models"], ids=[m["id"] for m in CASES["models"]])
def test_the_expected_blocks_are_read_as_such(model, meaning):
    for name, lines in model["expected"].items():
        if name.startswith("block"):
            found = read("\n".join(lines).encode(), name)
            assert not found.findings
            assert {frozenset(h) for h in meaning.domains(found.hierarchies).values()} == set(meaning.blocks(lines).values()) == meaning.groups(found.hierarchies[0])[0]


@needed
def test_physical_hosts_of_google():
    case = OTHER["cluster-toolkit-physical-host"]
    names = [name for text in case["all_nodes"] for name in expand(text)]
    machines = [{"name": n, "resourceStatus": {"physicalHost": case["placement"][n]} if n in case["placement"] else {}} for n in names]
    found = read(json.dumps(machines).encode(), "f")
    leaves = [sorted(h for h, g in zip(hierarchy.hosts, hierarchy.labels[0], strict=True) if g == label) for hierarchy in found.hierarchies for label in range(len(hierarchy.groups[0]))]
    assert sorted(leaves) == sorted(g for g in case["expected"]["leaf_groups"] if set(g) <= set(case["placement"]))
    assert sorted(found.adrift) == sorted(h for g in case["expected"]["leaf_groups"] if not set(g) <= set(case["placement"]) for h in g)


@needed
def test_network_nodes_of_amazon(meaning):
    case = OTHER["aws-networknodes"]
    found = read(json.dumps({"Instances": [{"InstanceId": i, "NetworkNodes": nodes} for i, nodes in case["input"].items()]}).encode(), "f")
    (hierarchy,) = found.hierarchies
    assert sorted(map(sorted, meaning.groups(hierarchy)[0])) == sorted(case["expected"]["leaf_groups"])
    at = hierarchy.index
    common = [sum(hierarchy.labels[k, at["i3"]] == hierarchy.labels[k, at[other]] for k in range(len(hierarchy.tiers))) for other in ("i1", "i2", "i4")]
    assert common[0] == common[1] > common[2]


@needed
def test_a_tree_in_small(meaning):
    case = OTHER["topograph-tree-mini"]
    lines = [f"SwitchName={name} {'Switches' if below[0] in case['input'] else 'Nodes'}={','.join(below)}" for name, below in case["input"].items()]
    (hierarchy,) = read("\n".join(lines).encode(), "f").hierarchies
    assert {name: hosts for tier in meaning.named(hierarchy) for name, hosts in tier.items()} == {name: set(hosts) for name, hosts in meaning.tree(case["expected"]["tree"]).items()}
