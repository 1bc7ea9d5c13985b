"""Slurm's files of discovered fabrics: they say what was found, by meaning, and are read back as the same fabric."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from iacgen.discovery import read
from iacgen.targets.slurm.topology_files import topology_files

CASES = Path(__file__).parents[1] / "cases/topology"
EXPECTED = yaml.safe_load((CASES / "expected.yaml").read_text(encoding="utf-8"))
MODELS = Path(os.environ.get("IACGEN_CASES") or "/nowhere") / "topology_models.json"
PUBLISHED = json.loads(MODELS.read_text())["models"] if MODELS.exists() else []
OLD, BLOCKS, YAML = (22, 5), (24, 11), (25, 5)


def bare(hierarchy):
    """Without its NVLink domains: a tree of switches alone."""
    return replace(hierarchy, domains=())


def several(tiers):
    """The groups that Slurm's tree has: tiers of one group below what joins all are none."""
    return set().union(*(tier for number, tier in enumerate(tiers) if number in (0, len(tiers) - 1) or len(tier) > 1))


@pytest.mark.parametrize("file", EXPECTED)
def test_the_tree_has_the_groups_that_were_written_down(file, meaning):
    found = read((CASES / file).read_bytes(), file)
    for hierarchy, tiers in zip(found.hierarchies, EXPECTED[file]["fabrics"], strict=True):
        text = topology_files("any", [bare(hierarchy)], OLD)["topology.conf"]
        assert set(meaning.tree(text.splitlines()).values()) == several(meaning.written(tiers))


@pytest.mark.parametrize("file", EXPECTED)
def test_what_was_written_is_read_as_the_same_fabric(file, meaning):
    for hierarchy in read((CASES / file).read_bytes(), file).hierarchies:
        for version in (OLD, YAML):
            ((name, text),) = topology_files("any", [bare(hierarchy)], version).items()
            again = read(text.encode(), name)
            assert again.findings == () and not again.adrift
            assert set().union(*(set().union(*meaning.groups(h)) for h in again.hierarchies)) == several(meaning.groups(hierarchy))


@pytest.mark.parametrize("file", [file for file, case in EXPECTED.items() if case.get("domains")])
def test_blocks_are_the_domains_where_they_hold_all_hosts(file, meaning):
    found = read((CASES / file).read_bytes(), file)
    files = topology_files("any", found.hierarchies, BLOCKS, "block")
    domains = meaning.domains(found.hierarchies)
    if set().union(*domains.values()) != {host for h in found.hierarchies for host in h.hosts}:
        assert files.id == "IAC664"
        return
    again = read(files["topology.conf"].encode(), "topology.conf")
    assert {frozenset(hosts) for hosts in meaning.domains(again.hierarchies).values()} == {frozenset(hosts) for hosts in domains.values()}


@pytest.mark.skipif(not MODELS.exists(), reason="IACGEN_CASES names no folder with topology_models.json")
@pytest.mark.parametrize("model", PUBLISHED, ids=[m["id"] for m in PUBLISHED])
def test_a_published_model_becomes_its_published_files(model, meaning):
    """The tree by the names of its switches, the blocks by their hosts, and BlockSizes to the digit."""
    (hierarchy,) = read("\n".join(model["expected"]["tree"]).encode(), "tree").hierarchies
    (blocked,) = read("\n".join(model["expected"]["block_auto"]).encode(), "block").hierarchies
    assert meaning.tree(topology_files("any", [bare(hierarchy)], OLD)["topology.conf"].splitlines()) == meaning.tree(model["expected"]["tree"])
    of = dict(zip(blocked.hosts, blocked.domains, strict=True))
    text = topology_files("any", [replace(hierarchy, domains=tuple(of[host] for host in hierarchy.hosts))], BLOCKS, "block")["topology.conf"].splitlines()
    wanted = [line for line in model["expected"]["block_auto"] if not line.startswith("#")]
    assert set(meaning.blocks([line for line in text if line.startswith("BlockName")]).values()) == set(meaning.blocks([w for w in wanted if w.startswith("BlockName")]).values())
    assert [line for line in text if line.startswith("BlockSizes")] == [line for line in wanted if line.startswith("BlockSizes")]


def test_blocks_without_a_known_domain_are_an_error():
    """And never BlockSizes=-1, as topograph once wrote (NVIDIA/topograph#468)."""
    (hierarchy,) = read((CASES / "slurm-tree.conf").read_bytes(), "slurm-tree.conf").hierarchies
    assert topology_files("any", [hierarchy], BLOCKS, "block").id == "IAC664"
