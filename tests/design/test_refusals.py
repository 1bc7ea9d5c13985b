"""What cannot be built is refused with what can: every proposal is taken, as it is worded, and must leave no error."""

import copy
import re

import pytest
import yaml

from iacgen.pipeline import run

GPU = ("dgx-h100", 64)
UFM = {"kind": "ufm", "pool": "ufm"}
OPENSM = {"kind": "opensm", "pool": "gpu"}
IB = {"technology": "infiniband", "manager": OPENSM}
ROCE = {"technology": "roce"}
RAILS = {"topology": "rail-fat-tree"}


def asked(system, count, *parts, pools=(), **fabric):
    """A blueprint with one fabric; ``pools`` are further ones on it."""
    keys = {key: value for part in parts for key, value in part.items()} | fabric
    pool = {"site": "hall", "system": system, "count": count, "width": max(4, len(str(count)))}
    nodes = {"gpu": pool | keys.pop("pool", {}), "ufm": {"site": "hall", "system": "generic-1u", "count": 2}} | {name: {"site": "hall", "system": s, "count": n} for name, s, n in pools}
    connects = ["gpu", *(name for name, *_ in pools)]
    made = {"site": "hall", "purpose": "compute", "connects": connects, **keys}
    return {"kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": nodes, "fabrics": {"net": made}}


REFUSED = {
    "98304-qm9700": asked("dgx-h100", 12_288, IB, RAILS, switch="qm9700", unit=32),
    "98304-qm9700-ufm": asked("dgx-h100", 12_288, IB, RAILS, switch="qm9700", unit=32, manager=UFM),
    "98304-plain-tree": asked("dgx-h100", 12_288, IB, switch="qm9700"),
    "98304-any-switch": asked("dgx-h100", 12_288, IB, RAILS),
    "98304-any-switch-plain": asked("dgx-h100", 12_288, IB),
    "98304-hdr": asked("dgx-a100", 12_288, IB, RAILS, switch="qm8700"),
    "hdr-over-a-pod-limit": asked("dgx-h100", 2_001, IB, RAILS, switch="qm8700"),
    "65537-on-quoted-figures": asked("dgx-h100", 8_193, IB, RAILS, switch="qm9700", quoted={"leaf": 2_056}),
    "grown-too-far": asked("dgx-h100", 100, IB, RAILS, switch="qm9700", pool={"grow_to": 9_000}),
    "grown-too-far-and-large": asked("dgx-h100", 8_500, IB, RAILS, switch="qm9700", pool={"grow_to": 9_000}),
    "two-tiers": asked("dgx-h100", 257, IB, RAILS, switch="qm9700", tiers=2),
    "two-tiers-plain": asked("dgx-h100", 300, IB, switch="qm9700", tiers=2),
    "two-tiers-roce": asked("hgx-h100", 1_100, ROCE, RAILS, switch="sn5600", tiers=2),
    "two-tiers-round-robin": asked("dgx-h100", 300, IB, RAILS, switch="qm9700", tiers=2, numbering="round-robin"),
    "rail-only-two-tiers": asked("dgx-h100", 3_000, IB, switch="qm9700", topology="rail-only"),
    "rail-only-roce": asked("hgx-h100", 9_000, ROCE, switch="sn5600", topology="rail-only"),
    "rail-only-without-nvlink": asked("pcie-h100", 9_000, ROCE, switch="sn5600", topology="rail-only"),
    "rail-groups-apart": asked("dgx-h100", 3_000, IB, RAILS, switch="qm9700", rail_groups=True, tiers=2),
    "roce-98304-sn3700c": asked("hgx-h100", 12_288, ROCE, RAILS, switch="sn3700c"),
    "roce-sonic": asked("hgx-h100", 12_288, ROCE, RAILS, switch="sn4600c", os="sonic"),
    "roce-three-tiers-of-64-ports": asked("hgx-h100", 8_193, ROCE, RAILS, switch="sn4600c"),
    "roce-two-planes": asked("dgx-b300", 1_100, ROCE, RAILS, switch="sn5600", planes=2, tiers=2),
    "planes-that-do-not-divide": asked("dgx-b300", 16, ROCE, RAILS, switch="sn5600", planes=3),
    "xdr-adapters-on-ndr-planes": asked("dgx-b300", 16, ROCE, RAILS, switch="sn3700c", planes=2),
    "unit-too-large": asked(*GPU, IB, RAILS, switch="qm9700", unit=33),
    "unit-too-large-beside-ufm": asked("dgx-h100", 128, IB, RAILS, switch="qm9700", unit=33, manager=UFM),
    "no-place-for-ufm": asked("dgx-h100", 128, IB, RAILS, switch="qm9700", unit=32, manager=UFM),
    "no-place-for-ufm-in-a-default-unit": asked(*GPU, IB, RAILS, switch="qm9700", manager=UFM),
    "manager-on-roce": asked("hgx-h100", 16, ROCE, RAILS, switch="sn5600", manager=UFM),
    "wrong-technology-of-a-switch": asked(*GPU, IB, RAILS, switch="sn5600"),
    "wrong-technology-of-a-switch-ufm": asked(*GPU, IB, RAILS, switch="sn5600", manager=UFM),
    "wrong-technology-of-spines": asked(*GPU, IB, RAILS, switch="qm9700", spine="sn5600"),
    "roce-on-infiniband": asked("hgx-h100", 64, ROCE, RAILS, switch="qm9700", qos={"dscp": 24}, os="cumulus"),
    "spines-that-do-not-divide": asked("dgx-h100", 96, IB, RAILS, switch="qm9700", unit=32, spines=12),
    "pod-too-large": asked("dgx-h100", 1_024, IB, RAILS, switch="qm9700", unit=32, pod=5),
    "pods-too-many": asked("dgx-h100", 4_096, IB, RAILS, switch="qm9700", unit=32, pod=1),
    "split-without-spines": asked("dgx-h100", 96, IB, RAILS, switch="qm9700", unit=32, split="rotating"),
    "split-for-growth": asked("dgx-h100", 64, IB, RAILS, switch="qm9700", unit=32, split="rotating", spines=12, pool={"grow_to": 96}),
    "rails-of-two-pools": asked("dgx-h100", 16, IB, RAILS, switch="qm9700", pools=[("more", "pcie-h100", 16)]),
    "rails-on-uplink-switches": asked(*GPU, RAILS, purpose="management", technology="ethernet", switch="sn2201"),
    "management-past-four-leaves": asked("generic-1u", 1_000, purpose="management", technology="ethernet", switch="sn2201", spine="sn2201", tiers=2),
    "management-past-eight-leaves": asked("generic-1u", 1_000, purpose="management", technology="ethernet", switch="sn2201", spine="sn2201"),
    "subnet-too-small": asked("dgx-h100", 64, IB, switch="qm9700", subnet="10.48.0.0/22"),
    "names-too-wide": asked("dgx-h100", 64, IB, switch="qm9700", pool={"width": 6}),
    "dragonfly-too-far": asked("dgx-h100", 500, IB, topology="dragonfly", switch="qm9700", group={"hosts": 16, "leaves": 4, "links": 2}),
    "dragonfly-group-too-large": asked("dgx-h100", 64, IB, topology="dragonfly", switch="qm9700", group={"hosts": 32, "leaves": 32, "links": 8}),
    "storage-of-servers": asked("dgx-h100", 9_000, IB, purpose="storage", switch="qm8700", pools=[("oss", "lustre-oss", 40)]),
}  # fmt: skip


def refusal(blueprint):
    state = run(yaml.safe_dump(blueprint), "refused")
    found = [f for f in state.findings if f.severity == "error"]
    assert [f.id for f in found] == ["IAC211"], found
    return found[0]


def proposals(found):
    """[(words, [(dotted path or key of the fabric, value or None)])] as the help has them, one a line."""
    begins, *possible = (found.help or "possible are").split("\n")
    assert begins == "possible are"
    out = []
    for words in possible:
        edits = []
        for word in re.split(r", (?![^{]*\})", re.sub(r" \([^)]*\)$", "", words)):
            key, _, value = word.partition(" ")
            edits.append((value, None) if key == "without" else (key, yaml.safe_load(value)))
        out.append((words, edits))
    return out


def taken(blueprint, edits):
    edited = copy.deepcopy(blueprint)
    for path, value in edits:
        at, keys = (edited, path.split(".")) if "." in path else (edited["fabrics"]["net"], [path])
        for key in keys[:-1]:
            at = at[key]
        at.pop(keys[-1], None)
        if value is not None:
            at[keys[-1]] = value
    assert edited != blueprint
    return edited


@pytest.mark.parametrize("name", REFUSED)
def test_every_proposal_of_a_refusal_works(name):
    found = refusal(REFUSED[name])
    near = proposals(found)
    assert near, found.message
    assert len(near) == len({words for words, _ in near}) <= 8
    for words, edits in near:
        state = run(yaml.safe_dump(taken(REFUSED[name], edits)), "taken")
        assert not [f for f in state.findings if f.severity == "error"] and state.design, (words, state.findings)


def test_98304_gpus_on_64_port_switches_are_told_all_four_ways():
    """k³/4 = 65,536 ports of 64-port switches: 8,192 nodes. 128-port Ethernet, more oversubscription and a dragonfly+ carry all."""
    for name in ("98304-qm9700", "98304-any-switch"):
        found = refusal(REFUSED[name])
        assert "65,536" in found.message and "98,304" in found.message
        near = [dict(edits) for _, edits in proposals(found)]
        assert {"nodes.gpu.count": 8_192} in near
        assert any(edits.get("technology") == "roce" and edits.get("switch") == "sn5600" for edits in near)
        assert any("oversubscription" in edits for edits in near) and any(edits.get("topology") == "dragonfly-plus" for edits in near)


@pytest.mark.parametrize(("name", "limit"), [("two-tiers", "64 leaves, 2,048 host ports"), ("dragonfly-too-far", "576 host ports")])
def test_limits_are_told_in_host_ports(name, limit):
    """64² / 2 ports in two tiers of 64-port switches; 4 · 2 + 1 groups of 4 leaves with 16 host ports each."""
    assert limit in refusal(REFUSED[name]).message


def test_a_manager_hides_no_limit():
    assert "65,536" in refusal(REFUSED["98304-qm9700-ufm"]).message
    assert ("nodes.gpu.count", 8_191) in [edit for _, edits in proposals(refusal(REFUSED["98304-qm9700-ufm"])) for edit in edits]


@pytest.mark.parametrize(("name", "most"), [("98304-qm9700", 8_192), ("two-tiers-plain", 256), ("two-tiers-roce", 1_024), ("management-past-four-leaves", 192), ("grown-too-far", 8_192)])
def test_the_size_that_is_named_is_the_largest(name, most):
    """k³/4, k²/2, and four leaves of 48 below spines of four ports; a node more is refused."""
    (path, count), *_ = next(edits for _, edits in proposals(refusal(REFUSED[name])) if edits[0][0].startswith("nodes."))
    ports = 8 if "management" not in name else 1
    assert count * ports == most * ports
    assert refusal(taken(REFUSED[name], [(path, count + 1)]))


def test_nothing_is_proposed_that_nothing_can_mend():
    """A hall has no way to give ports to a machine that has none."""
    blueprint = asked("lustre-oss", 4, IB, switch="qm9700")
    assert refusal(blueprint).help is None
