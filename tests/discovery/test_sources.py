"""Every source that is read: the groups of hosts in its file are those that a person reads in it."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import yaml

from iacgen.discovery import KINDS, read

CASES = Path(__file__).parents[1] / "cases/topology"
EXPECTED = yaml.safe_load((CASES / "expected.yaml").read_text(encoding="utf-8"))


def test_every_sample_has_its_meaning_and_every_kind_a_sample():
    assert {p.name for p in CASES.iterdir()} - {"expected.yaml"} == set(EXPECTED)
    assert {case["kind"] for case in EXPECTED.values()} == {kind.name for kind in KINDS}


@pytest.mark.parametrize("file", EXPECTED)
def test_a_file_says_what_it_says(file, meaning):
    case = EXPECTED[file]
    found = read((CASES / file).read_bytes(), file)
    assert found.kind == case["kind"]
    assert sorted(f.slug for f in found.findings) == case.get("findings", [])
    assert sorted(found.adrift) == sorted(case.get("adrift", []))
    assert [meaning.groups(h) for h in found.hierarchies] == [meaning.written(tiers) for tiers in case["fabrics"]]
    assert meaning.domains(found.hierarchies) == {name: set(meaning.written([[hosts]])[0].pop()) for name, hosts in case.get("domains", {}).items()}
    for hierarchy in found.hierarchies:
        meaning.consistent(hierarchy)


@pytest.mark.parametrize("file", [file for file, case in EXPECTED.items() if "names" in case])
def test_groups_have_the_names_of_their_switches(file):
    hierarchy = read((CASES / file).read_bytes(), file).hierarchies[0]
    assert [sorted(names) for names in hierarchy.groups] == [sorted(names) for names in EXPECTED[file]["names"]]


@pytest.mark.parametrize("file", [file for file, case in EXPECTED.items() if "node_GBps" in case])
def test_rates_are_those_of_the_links(file):
    case = EXPECTED[file]
    hierarchy = read((CASES / file).read_bytes(), file).hierarchies[0]
    assert hierarchy.node_Bps == pytest.approx(case["node_GBps"] * 1e9)
    for rates, wanted in zip(hierarchy.uplink_Bps, case.get("uplink_GBps", []), strict=False):
        assert sorted(rates) == pytest.approx(sorted(np.inf if gbps is None else gbps * 1e9 for gbps in wanted))


@pytest.mark.parametrize("file", EXPECTED)
def test_the_kind_can_be_said(file):
    raw = (CASES / file).read_bytes()
    told, guessed = read(raw, file, EXPECTED[file]["kind"]), read(raw, file)
    assert [h.groups for h in told.hierarchies] == [h.groups for h in guessed.hierarchies] != []


@pytest.mark.parametrize("file", ["slurm-tree.conf", "slurm-block.conf", "scontrol-show-topology.txt", "azslurm-tree.conf"])
def test_the_order_of_lines_says_nothing(file):
    text = (CASES / file).read_text().replace("\\\n", "")
    lines = text.splitlines()
    first = read(text.encode(), file).hierarchies
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        again = read("\n".join(lines).encode(), file).hierarchies
        assert [(h.name, h.hosts, h.groups, h.labels.tolist(), h.domains) for h in again] == [(h.name, h.hosts, h.groups, h.labels.tolist(), h.domains) for h in first]


def test_the_order_of_blocks_of_ibnetdiscover_says_nothing():
    blocks = (CASES / "ibnetdiscover-rails.txt").read_text().split("\n\n")
    first = read("\n\n".join(blocks).encode(), "f").hierarchies[0]
    for seed in range(5):
        random.Random(seed).shuffle(blocks)
        again = read("\n\n".join(blocks).encode(), "f").hierarchies[0]
        assert (again.hosts, again.groups, again.labels.tolist()) == (first.hosts, first.groups, first.labels.tolist())
        assert [r.tolist() for r in again.uplink_Bps] == [r.tolist() for r in first.uplink_Bps]


def test_answers_may_stand_behind_each_other():
    """Pages of AWS and instances of Google one by one say what one answer says."""
    import json

    whole = json.loads((CASES / "aws-ultraservers.json").read_text())["Instances"]
    pages = "\n".join(json.dumps({"Instances": whole[i : i + 3], "NextToken": "x"}) for i in range(0, len(whole), 3))
    assert read(pages.encode(), "f").hierarchies[0].hosts == read((CASES / "aws-ultraservers.json").read_bytes(), "f").hierarchies[0].hosts
    machines = json.loads((CASES / "gcp-subblocks.json").read_text())
    assert read("".join(map(json.dumps, machines)).encode(), "f").hierarchies[0].hosts == read((CASES / "gcp-subblocks.json").read_bytes(), "f").hierarchies[0].hosts


def test_names_by_guid_make_rails_of_adapters(meaning):
    """What SHARP tells of adapters becomes machines on several leaves."""
    names = {f"0x155dfffd34{adapter}{leaf}": vm for adapter, vm in {"1ac": "vm1", "1b0": "vm2", "2ac": "vm3", "2b0": "vm4"}.items() for leaf in "bc"}
    found = read((CASES / "sharp-topology.txt").read_bytes(), "f", names=names)
    assert not found.findings
    assert meaning.groups(found.hierarchies[0]) == meaning.written([["vm[1-2]", "vm[3-4]"], ["vm[1-4]"]])


def test_an_adapter_without_a_name_is_placed_by_its_guid():
    found = read((CASES / "ibnetdiscover-rails.txt").read_bytes(), "f", names={"0x2c90300a0000150": "dgx01"})
    assert not [f for f in found.findings if f.slug == "nameless-adapter"]
    assert found.missing(["dgx01", "dgx99", "twin"]) == ("dgx99", "twin")


def test_machines_that_differ_are_told_apart():
    (aws,) = read((CASES / "aws-ultraservers.json").read_bytes(), "aws.json").hierarchies[:1]
    assert set(aws.gpus) == {"p6e-gb200.36xlarge", "p5.48xlarge"} and len(aws.gpus) == len(aws.hosts)
    nodes = [{"kind": "Node", "metadata": {"name": f"n{i}", "labels": {"cloud.provider.com/topology-block": "b", "cloud.provider.com/topology-rack": f"r{i // 2}", key: gpu}}}
             for i, (key, gpu) in enumerate([("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3")] * 2 + [("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB")] * 2)]  # fmt: skip
    (kube,) = read(json.dumps({"kind": "List", "items": nodes}).encode(), "nodes.json").hierarchies
    assert dict(zip(kube.hosts, kube.gpus, strict=True)) == {"n0": "NVIDIA-H100-80GB-HBM3", "n1": "NVIDIA-H100-80GB-HBM3", "n2": "NVIDIA-A100-SXM4-80GB", "n3": "NVIDIA-A100-SXM4-80GB"}
    gcp = [{"kind": "compute#instance", "name": f"g{i}", "machineType": f"projects/p/zones/z/machineTypes/a3-{kind}gpu-8g", "resourceStatus": {"physicalHost": f"/c/r/{i}"}} for i, kind in enumerate(("mega", "high"))]
    assert read(json.dumps(gcp).encode(), "gcp.json").hierarchies[0].gpus == ("a3-megagpu-8g", "a3-highgpu-8g")
