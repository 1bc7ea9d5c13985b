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


ASKED = [(model, key) for model in PUBLISHED for key in model["expected"] if key.startswith("block_") and key != "block_auto"]


@pytest.mark.skipif(not MODELS.exists(), reason="IACGEN_CASES names no folder with topology_models.json")
@pytest.mark.parametrize(("model", "key"), ASKED, ids=[key for _, key in ASKED])
def test_a_published_model_has_the_sizes_that_are_asked_for(model, key, meaning):
    wanted = [line for line in model["expected"][key] if not line.startswith("#")]
    (blocked,) = read("\n".join(wanted).encode(), "block").hierarchies
    text = topology_files("any", [blocked], BLOCKS, "block", sizes=[int(size) for size in key.split("_")[1:]])["topology.conf"].splitlines()
    assert [line for line in text if line.startswith("BlockSizes")] == [line for line in wanted if line.startswith("BlockSizes")]
    assert set(meaning.blocks([x for x in text if x.startswith("BlockName")]).values()) == set(meaning.blocks([x for x in wanted if x.startswith("BlockName")]).values())


@pytest.mark.parametrize(("file", "sizes", "line"), [("slurm-block.conf", [17, 34], "BlockSizes=17,34"), ("slurm-block.conf", [8, 32], "BlockSizes=8,32"), ("kubernetes-topograph.yaml", [1, 2], "BlockSizes=1,2")])
def test_sizes_that_are_asked_for_stand_in_both_files(file, sizes, line):
    found = [h for h in read((CASES / file).read_bytes(), file).hierarchies if all(h.domains) and h.domains]
    text = topology_files("any", found, BLOCKS, "block", sizes=sizes)["topology.conf"]
    assert [x for x in text.splitlines() if x.startswith("BlockSizes")] == [line] and "below that of a domain" not in text
    (blocks,) = [x["block"] for x in yaml.safe_load(topology_files("any", found, YAML, "block", sizes=sizes)["topology.yaml"]) if "block" in x]
    assert blocks["block_sizes"] == sizes


REFUSED = {(18, 36): "the smallest block has 17 hosts", (16, 48): "48 is not 16 times a power of two", (16, 16): "each once", (0, 16): "from 1 on", (32, 16): "the least first", (16, 32, 64): "above the 53 hosts"}


@pytest.mark.parametrize("sizes", REFUSED)
def test_sizes_that_slurm_would_not_take_are_refused(sizes):
    """Three racks of 18, 17 and 18 hosts."""
    (racks,) = read((CASES / "slurm-block.conf").read_bytes(), "slurm-block.conf").hierarchies
    refused = topology_files("any", [racks], BLOCKS, "block", sizes=sizes)
    assert refused.id == "IAC664" and REFUSED[sizes] in refused.message


def test_sizes_under_which_a_job_would_not_get_its_hosts_are_refused():
    """Sixteen hosts, half of them in each of two racks: of blocks of 16 Slurm would give it one."""
    (racks,) = read((CASES / "slurm-block.conf").read_bytes(), "slurm-block.conf").hierarchies
    job = [*racks.hosts[:8], *racks.hosts[18:26]]
    assert topology_files("any", [racks], BLOCKS, "block", [job], sizes=[8])["topology.conf"].endswith("BlockSizes=8\n")
    assert "would not give a job of 16 hosts" in topology_files("any", [racks], BLOCKS, "block", [job], sizes=[16]).message


def test_blocks_without_a_known_domain_are_an_error():
    """And never BlockSizes=-1, as topograph once wrote (NVIDIA/topograph#468)."""
    (hierarchy,) = read((CASES / "slurm-tree.conf").read_bytes(), "slurm-tree.conf").hierarchies
    assert topology_files("any", [hierarchy], BLOCKS, "block").id == "IAC664"
