"""The same source in its other forms: older keys, one answer without the others, one machine after the other."""

import json
from pathlib import Path

import pytest
import yaml

from iacgen.discovery import read

CASES = Path(__file__).parents[1] / "cases/topology"


def answers(name):
    """The JSON values of a sample, one behind the other."""
    text, out, at = (CASES / name).read_text(), [], 0
    while text[at:].strip():
        value, at = json.JSONDecoder().raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        out.append(value)
    return out


def groups(raw, meaning, **given):
    found = read(raw if isinstance(raw, bytes) else "\n".join(map(json.dumps, raw)).encode(), "f", **given)
    assert not [f for f in found.findings if f.severity == "error"], found.findings
    return [meaning.groups(h) for h in found.hierarchies]


def test_links_of_ufm_alone_name_their_ends(meaning):
    """Without systems a port that is displayed as a number is a switch's, and without ports no rate is known."""
    links, systems, ports = answers("ufm-rails.json")
    whole = groups([links, systems, ports], meaning)
    assert groups([links], meaning) == groups([ports, links], meaning) == groups([{"links": links, "systems": systems, "ports": ports}], meaning) == whole
    assert read(json.dumps(links).encode(), "f").hierarchies[0].node_Bps is None
    assert read(json.dumps(links[::-1] + links).encode(), "f").hierarchies[0].labels.tolist() == read(json.dumps(links).encode(), "f").hierarchies[0].labels.tolist()


def test_netq_spells_its_keys_in_three_ways(meaning):
    (whole,) = answers("netq-lldp.json")
    camel = [{"hostname": r["hostname"], "ifname": r["ifname"], "peerHostname": r["peer_hostname"], "peerIfname": r["peer_ifname"]} for r in whole["lldp"]]
    table = [{"Hostname": r["hostname"], "Interface": r["ifname"], "Peer Hostname": r["peer_hostname"], "Peer Interface": r["peer_ifname"]} for r in whole["lldp"]]
    assert groups([camel], meaning) == groups([{"lldp": table}], meaning) == groups([whole], meaning)


def test_netq_s_links_are_read_by_their_ids_where_they_name_no_ends(meaning):
    graph, nmx = answers("netq-graph.json")
    bare = [{"nodes": graph[0]["nodes"], "links": [{"id": link["id"]} for link in graph[0]["links"]]}]
    assert groups([bare, nmx], meaning) == groups([graph], meaning)


def test_machines_of_azure_tell_of_themselves_one_by_one(meaning):
    said = {"location": "westus3", "zone": "1", "vmScaleSetName": "nd"}
    machines = [{"compute": said | {"vmId": f"{n}", "name": f"nd_{n}", "placementGroupId": pg, "osProfile": {"computerName": f"nd-{n:06d}"}}} for n, pg in enumerate(["a", "b", "a", ""])]
    assert groups(machines, meaning) == [meaning.written([["nd-[000000,000002]", "nd-000001", "nd-000003"], ["nd-[000000-000003]"]])]
    at = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute"
    near = [{"id": f"{at}/virtualMachines/v{n}", "name": f"v{n}", "location": "eastus", "proximityPlacementGroup": {"id": f"{at}/proximityPlacementGroups/{pg}"}} for n, pg in enumerate("aab")]
    assert groups([near], meaning) == [meaning.written([["v[0-1]", "v2"], ["v[0-2]"]])]


def nodes(*labels):
    return [{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": f"n{i}", "labels": of}} for i, of in enumerate(labels)]}]


@pytest.mark.parametrize(
    ("keys", "domain"),
    [
        (["network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine", "network.topology.nvidia.com/core"], "network.topology.nvidia.com/accelerator"),
        (["fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1", "fabric.topograph.run/tier-2"], "accelerator.topograph.run/domain"),
        (["topology.k8s.aws/network-node-layer-3", "topology.k8s.aws/network-node-layer-2", "topology.k8s.aws/network-node-layer-1"], "topology.k8s.aws/ultraserver-id"),
    ],
)
def test_labels_of_three_tiers(keys, domain, meaning):
    raw = nodes(*(dict(zip(keys, path, strict=True)) | {domain: d} for path, d in [("aps", "1"), ("aps", "1"), ("bps", "2"), ("cqs", "2")]))
    assert groups(raw, meaning) == [meaning.written([["n[0-1]", "n2", "n3"], ["n[0-2]", "n3"], ["n[0-3]"]])]
    assert meaning.domains(read(json.dumps(raw[0]).encode(), "f").hierarchies) == {"1": {"n0", "n1"}, "2": {"n2", "n3"}}


def test_labels_of_google(meaning):
    keys = [*(f"cloud.google.com/gce-topology-{word}" for word in ("block", "subblock", "host")), "topology.kubernetes.io/zone"]
    raw = nodes(*(dict(zip(keys, [*path.split(), "z"], strict=True)) for path in ("b1 s1 h1", "b1 s1 h2", "b1 s2 h3", "b2 s3 h4")))
    assert groups(raw, meaning) == [meaning.written([["n[0-1]", "n2", "n3"], ["n[0-2]", "n3"], ["n[0-3]"]])]


def test_cliques_alone_are_domains_under_one_zone(meaning):
    raw = nodes(*({"nvidia.com/gpu.clique": c, "topology.kubernetes.io/zone": "z"} for c in ("u.1", "u.1", "u.2")), {"topology.kubernetes.io/zone": "z"})
    found = read(json.dumps(raw[0]).encode(), "f")
    assert [meaning.groups(h) for h in found.hierarchies] == [meaning.written([["n[0-1]", "n2"], ["n[0-2]"]])] and found.adrift == ("n3",)
    assert meaning.domains(found.hierarchies) == {"u.1": {"n0", "n1"}, "u.2": {"n2"}}


def test_models_of_the_older_age(meaning):
    old = {
        "switches": [{"name": "core", "switches": ["leaf1", "leaf2"]}, {"name": "leaf1", "nodes": ["n[1-2]"]}, {"name": "leaf2", "nodes": ["n3", "n4"]}],
        "capacity_blocks": [{"name": "cb1", "type": "GB200", "nvlink": "nvl1", "nodes": ["n1", "n2"]}, {"name": "cb2", "type": "GB200", "nvlink": "nvl2", "nodes": ["n[3-4]"]}],
    }
    assert groups([old], meaning) == [meaning.written([["n[1-2]", "n[3-4]"], ["n[1-4]"]])]
    assert meaning.domains(read(json.dumps(old).encode(), "f").hierarchies) == {"nvl1": {"n1", "n2"}, "nvl2": {"n3", "n4"}}


def test_a_fourth_layer_of_amazon_is_the_leaf(meaning):
    raw = [{"Instances": [{"InstanceId": f"i-{n}", "NetworkNodes": ["t", "s", path[0], path], "ZoneId": "z"} for n, path in enumerate(["ax", "ax", "ay", "bx"])]}]
    assert groups(raw, meaning) == [meaning.written([["i-[0-1]", "i-2", "i-3"], ["i-[0-2]", "i-3"], ["i-[0-3]"], ["i-[0-3]"]])]
    assert read(json.dumps(raw[0]).encode(), "f").hierarchies[0].tiers == ("layer4", "layer3", "layer2", "layer1")


def test_shorter_and_longer_paths_stand_in_one_tree(meaning):
    """A place that is told less exactly lies beside those that are told more exactly, under what they share."""
    raw = [{"Instances": [{"InstanceId": f"i-{n}", "NetworkNodes": path} for n, path in enumerate([["t", "a", "x"], ["t", "a", "x"], ["t", "a"], ["t", "b"]])]}]
    (tiers,) = groups(raw, meaning)
    assert tiers[0] == meaning.written([["i-[0-1]", "i-2", "i-3"]])[0] and tiers[-1] == meaning.written([["i-[0-3]"]])[0] and frozenset({"i-0", "i-1", "i-2"}) in tiers[1]


def test_hosts_that_monitoring_knows_and_no_cable_reaches_are_named():
    graph, nmx = answers("netq-graph.json")
    assert read((json.dumps(graph) + json.dumps([*nmx, {"Name": "gb9", "DomainUUID": "d9"}])).encode(), "f").adrift == ("gb9",)
    links, systems, ports = answers("ufm-rails.json")
    lone = {"type": "host", "guid": "1070fd0300009000", "system_guid": "1070fd0300009000", "system_name": "node9"}
    assert read((json.dumps(links) + json.dumps([*systems, lone])).encode(), "f").adrift == ("node9",)


def test_steps_that_hold_the_separator_are_no_paths():
    raw = {"Instances": [{"InstanceId": f"i-{n}", "NetworkNodes": path} for n, path in enumerate([["t", "a/b", "c"], ["t", "a", "b/c"], ["t", "a", "c"]])]}
    (hierarchy,) = read(json.dumps(raw).encode(), "f").hierarchies
    assert [len(g) for g in hierarchy.groups] == [3, 2, 1]


@pytest.mark.parametrize("name", ["aws-ultraservers.json", "gcp-subblocks.json", "azure-scale-set.json", "kubernetes-aws.json"])
def test_what_prints_json_may_print_yaml(name, meaning):
    (value,) = answers(name)
    assert groups(yaml.safe_dump(value).encode(), meaning) == groups([value], meaning)
