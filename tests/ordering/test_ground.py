"""Which of the fabrics that were found joins a pool, and what leaves the groups of its tiers."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.ordering import NoGround
from iacgen.ordering.ground import Source, chosen, sources

TOPOLOGIES = Path(__file__).parents[1] / "cases/topology"


def pool(*hosts, nic=SimpleNamespace(count=8, gbps=400)):
    return SimpleNamespace(name="gpu", hosts=hosts, host=lambda i: hosts[i], system=SimpleNamespace(name="s", nics={"compute": nic} if nic else {}))


def fabric(name, *leaves, uplinks=(), node_Bps=None, top=True):
    """A fabric of leaf groups, given by their hosts, below one top."""
    hosts = tuple(host for leaf in leaves for host in leaf)
    labels = np.array([[k for k, leaf in enumerate(leaves) for _ in leaf], *([[0] * len(hosts)] if top else [])])
    groups = (tuple(f"{name}-leaf{k + 1}" for k in range(len(leaves))), *([(f"{name}-top",)] if top else []))
    rates = (np.array(uplinks or [np.inf] * len(leaves), dtype=float), *([np.array([np.inf])] if top else []))
    return Hierarchy(name, hosts, ("leaf", "top")[: len(groups)], groups, labels, rates, node_Bps)


def source(hierarchy, file="f", name=None):
    return Source(name or hierarchy.name, file, "slurm", hierarchy, ())


ALL = {"a", "b", "c", "d"}


def test_the_only_fabric_with_hosts_of_the_pool_is_taken_and_strangers_are_told():
    found = [source(fabric("x", ("p", "q"))), source(fabric("y", ("a", "b"), ("c", "z")))]
    ground = chosen(found, pool("a", "b", "c", "d"), ALL)
    assert (ground.name, ground.strangers, ground.open_tiers) == ("y", ("z",), ("leaf",))


def instances(*hosts, token=""):
    told = [{"InstanceId": host, "NetworkNodes": ["nn-top", f"nn-{host[0]}"]} for host in hosts]
    return json.dumps({"Instances": told, "NextToken": token} if token else {"Instances": told}).encode()


def test_pages_of_one_answer_in_several_files_are_one_fabric():
    found, said = sources([(instances("a1", "a2", "b1", token="more"), "p1"), (instances("b2", "c1"), "p2")])
    assert said == [] and len(found) == 1
    ground = chosen(found, pool("a1", "a2", "b1", "b2", "c1"), {"a1", "a2", "b1", "b2", "c1"})
    assert ground.files == ("p1", "p2") and ground.found.hosts == ("a1", "a2", "b1", "b2", "c1") and ground.found.labels[0].tolist() == [0, 0, 1, 1, 2]


def test_files_that_tell_of_the_same_hosts_are_no_pages():
    found, _ = sources([(instances("a1", "a2", token="more"), "p1"), (instances("a2", "c1"), "p2")])
    assert [s.file for s in found] == ["p1", "p2"]
    found, said = sources([(instances("a1", token="more"), "p1"), (b"{", "p2")], "aws-instance-topology")
    assert [s.file for s in found] == ["p1"] and {f.at.name for f in said} == {"p1", "p2"}


def test_rails_of_two_files_add_up_whatever_their_switches_are_called():
    """The second rail has lost a host, and its leaves come the other way round."""
    hosts = tuple(f"h{n:02d}" for n in range(20))
    one = fabric("one", hosts[:10], hosts[10:], uplinks=(30.0, 40.0), node_Bps=5.0)
    two = fabric("two", hosts[10:], hosts[1:10], uplinks=(4.0, 3.0), node_Bps=7.0)
    ground = chosen([source(one, "r1"), source(two, "r2")], pool(*hosts), set(hosts))
    assert ground.found.uplink_Bps[0].tolist() == [33.0, 44.0] and ground.found.node_Bps == 12.0
    assert ground.files == ("r1", "r2") and ground.open_tiers == ()


def test_what_one_file_keeps_apart_is_apart():
    """Compute and storage over the same racks are no rails of each other."""
    compute, storage = (source(fabric(name, ("a", "b"), ("c", "d"))) for name in ("compute", "storage"))
    with pytest.raises(NoGround, match=r"several fabrics join the hosts of pool gpu: compute \(4 of its hosts\), storage \(4 of its hosts\); name one"):
        chosen([compute, storage], pool(*ALL), ALL)
    assert chosen([compute, storage], pool(*sorted(ALL)), ALL, "storage").name == "storage"


@pytest.mark.parametrize("other", [fabric("y", ("a", "c"), ("b", "d")), fabric("y", ("a", "b", "c"), ("d",)), fabric("y", ("a",), ("b",), ("c", "d")), fabric("y", ("a", "b"), ("c", "d"), top=False)])
def test_fabrics_that_part_the_hosts_otherwise_are_no_rails(other):
    with pytest.raises(NoGround, match="several fabrics"):
        chosen([source(fabric("x", ("a", "b"), ("c", "d")), "f"), source(other, "g")], pool(*sorted(ALL)), ALL)


def test_a_ratio_counts_all_hosts_of_a_group():
    """Two and three hosts of 8 x 50 GB/s at 2:1, though the pool has four of the five."""
    ground = chosen([source(fabric("x", ("a", "b"), ("c", "d", "z")))], pool(*sorted(ALL)), ALL, ratios={"leaf": 2.0})
    assert ground.found.uplink_Bps[0].tolist() == [2 * 400e9 / 2, 3 * 400e9 / 2] and ground.open_tiers == ()
    with pytest.raises(NoGround, match="x has no tier top with uplinks; there is leaf"):
        chosen([source(fabric("x", ("a", "b"), ("c", "d")))], pool(*sorted(ALL)), ALL, ratios={"top": 2.0})


def test_somebody_must_tell_the_rate_of_the_adapters():
    unknown = pool(*sorted(ALL), nic=None)
    with pytest.raises(NoGround, match="neither the catalog nor f tells the rate of the adapters of s"):
        chosen([source(fabric("x", ("a", "b"), ("c", "d")))], unknown, ALL)
    assert chosen([source(fabric("x", ("a", "b"), ("c", "d"), node_Bps=1.0))], unknown, ALL).found.node_Bps == 1.0


def test_no_host_of_the_pool_anywhere():
    with pytest.raises(NoGround, match="no host of pool gpu, such as a, is on x, where hosts have names such as i-1; give their names with --names"):
        chosen([source(fabric("x", ("i-1", "i-2")))], pool("a", "b"), ALL)


@pytest.mark.parametrize("path", sorted(p for p in TOPOLOGIES.iterdir() if p.name != "expected.yaml"), ids=lambda p: p.name)
def test_every_known_form_is_ground_for_the_hosts_that_it_names(path):
    found, findings = sources([(path.read_bytes(), path.name)])
    assert found, findings
    for one in found:
        ground = chosen(found, pool(*one.hierarchy.hosts), set(one.hierarchy.hosts), one.name)
        assert ground.found.hosts == one.hierarchy.hosts and not ground.strangers
