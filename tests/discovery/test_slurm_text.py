"""From a file that was discovered to the file that Slurm reads: the same groups stand in both, and are read back from it."""

from pathlib import Path

import pytest
import yaml

from iacgen.discovery import read
from iacgen.targets.slurm.topology_files import topology_files

CASES = Path(__file__).parents[1] / "cases/topology"
EXPECTED = yaml.safe_load((CASES / "expected.yaml").read_text(encoding="utf-8"))
FABRICS = [pytest.param(file, i, id=f"{file} {i + 1}") for file, case in EXPECTED.items() for i in range(len(case["fabrics"]))]


def lines(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def wanted(file, i, meaning):
    """(groups of all tiers, NVLink domains) of a fabric, as they are written down by hand."""
    tiers = meaning.written(EXPECTED[file]["fabrics"][i])
    hosts = frozenset().union(*tiers[0])
    domains = {next(iter(meaning.written([[text]])[0])) for text in EXPECTED[file].get("domains", {}).values()}
    return set().union(*tiers), {domain for domain in domains if domain <= hosts}


@pytest.mark.parametrize(("file", "i"), FABRICS)
def test_the_tree_has_the_expected_groups(file, i, meaning):
    groups, domains = wanted(file, i, meaning)
    hierarchy = read((CASES / file).read_bytes(), file).hierarchies[i]
    told = topology_files("any", [hierarchy], (24, 11))["topology.conf"]
    below = set(meaning.tree(lines(told)).values())
    assert below == groups if not domains else domains <= below <= groups | domains | {g - frozenset().union(*domains) for g in groups} | {frozenset({host}) for host in hierarchy.hosts}
    again = read(told.encode(), "topology.conf")
    assert again.kind == "slurm" and not again.findings and [set(h.hosts) for h in again.hierarchies] == [set(hierarchy.hosts)]
    if not domains:
        assert {g for tier in meaning.groups(again.hierarchies[0]) for g in tier} == groups


@pytest.mark.parametrize("file", ["slurm-block.conf"])
def test_blocks_are_the_domains(file, meaning):
    found = read((CASES / file).read_bytes(), file)
    told = topology_files("any", found.hierarchies, (24, 11), "block")["topology.conf"]
    assert set(meaning.blocks(lines(told)).values()) == wanted(file, 0, meaning)[1]
    again = read(told.encode(), "topology.conf")
    assert {frozenset(h) for h in meaning.domains(again.hierarchies).values()} == wanted(file, 0, meaning)[1]


@pytest.mark.parametrize(("file", "i"), FABRICS)
def test_topology_yaml_says_the_same(file, i, meaning):
    hierarchy = read((CASES / file).read_bytes(), file).hierarchies[i]
    again = read(topology_files("any", [hierarchy], (25, 5))["topology.yaml"].encode(), "topology.yaml")
    assert again.kind == "topology.yaml" and not again.findings
    first = read(topology_files("any", [hierarchy], (24, 11))["topology.conf"].encode(), "topology.conf")
    assert meaning.groups(again.hierarchies[0]) == meaning.groups(first.hierarchies[0])
