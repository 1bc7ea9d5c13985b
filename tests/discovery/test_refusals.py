"""What cannot be trusted is a finding at its place, and then there is no hierarchy: half an answer is no answer."""

from pathlib import Path

import pytest

from iacgen.discovery import names, read, renamed
from iacgen.explain import find

CASES = Path(__file__).parents[1] / "cases/topology"

REFUSED = {
    "nothing": (b"", None, "unknown-topology", 1),
    "another program's JSON": (b'{"lldp": {"interface": []}}', None, "unknown-topology", 1),
    "a list of nothing": (b"[]", None, "unknown-topology", 1),
    "a text of no kind": (b"hello: world\n", None, "unknown-topology", 1),
    "two kinds in one text": (b'SwitchName=a Nodes=b\nSwitch\t4 "S-0001"\t# "x"\n', None, "unknown-topology", 1),
    "a kind that nobody knows": (b"SwitchName=a Nodes=b\n", "slrum", "unknown-topology", 1),
    "Latin-1": (b"SwitchName=a Nodes=b\n# K\xf6ln\n", None, "unreadable-topology", 2),
    "NUL bytes": (b"SwitchName=a\nNodes=\x00b\n", None, "unreadable-topology", 2),
    "JSON cut short": (b'{"Instances": [\n{"InstanceId": "i-1",\n', None, "unreadable-topology", 3),
    "a key twice": (b'{"Instances": [{"InstanceId": "i-1", "InstanceId": "i-2", "NetworkNodes": ["a"]}]}', None, "unreadable-topology", 1),
    "not a number": (b'{"Instances": NaN}', None, "unreadable-topology", 1),
    "a number of ten thousand digits": (b'{"Instances": ' + b"9" * 10_000 + b"}", None, "unreadable-topology", 1),
    "JSON nested too deeply": (b"[" * 200_000, None, "unreadable-topology", 1),
    "a topology that is no list": (b"topology: a\n", "topology.yaml", "topology-out-of-form", 1),
    "a model that is a text": (b"model\n", "topograph", "topology-out-of-form", 1),
    "an id that is a list": (b'{"Instances": [{"InstanceId": ["i-1"], "NetworkNodes": ["a"]}]}', None, "topology-out-of-form", 1),
    "network nodes that are a number": (b'{"Instances": [{"InstanceId": "i-1", "NetworkNodes": 7}]}', None, "topology-out-of-form", 1),
    "no host under any switch": (b'{"Instances": [{"InstanceId": "i-1", "NetworkNodes": null}]}', None, "topology-out-of-form", 1),
    "a key that Slurm does not know": (b"SwitchName=a Nodes=b\nSwitchName=c Children=a\n", None, "topology-out-of-form", 2),
    "a range turned round": (b"SwitchName=a Nodes=b[3-1]\n", None, "topology-out-of-form", 1),
    "a range without end": (b"SwitchName=a Nodes=b[1-2000000000]\n", None, "topology-out-of-form", 1),
    "lists that name too much together": (b"".join(b"SwitchName=s%d Nodes=n[0-65535]\n" % n for n in range(60)), None, "topology-out-of-form", 7),
    "one list that names too much": (b"SwitchName=s Nodes=" + b",".join([b"n[0-65535]"] * 5000) + b"\n", None, "topology-out-of-form", 1),
    "one bracket that names too much": (b"SwitchName=s Nodes=n[" + b",".join([b"0-65535"] * 50_000) + b"]\n", None, "topology-out-of-form", 1),
    "a tower of switches": (b"".join(b"SwitchName=s%d Switches=s%d\n" % (n, n + 1) for n in range(3000)) + b"SwitchName=s3000 Nodes=n\n", None, "topology-out-of-form", 1),
    "brackets in a switch's name": (b"SwitchName=s[1-2] Nodes=b\n", None, "topology-out-of-form", 1),
    "a node in two leaves": (b"SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[3-4]\n", None, "host-in-two-places", 2),
    "a node in two blocks": (b"BlockName=a Nodes=n[1-3]\nBlockName=b Nodes=n[3-4]\n", None, "host-in-two-places", 2),
    "switches in a ring": (b"SwitchName=a Switches=b\nSwitchName=b Switches=c\nSwitchName=c Switches=a\nSwitchName=d Nodes=n\n", None, "switches-at-odds", 1),
    "a switch above itself": (b"SwitchName=a Switches=a\nSwitchName=d Nodes=n\n", None, "switches-at-odds", 1),
    "a switch with two parents": (b"SwitchName=a Nodes=n\nSwitchName=p Switches=a\nSwitchName=q Switches=a\n", None, "switches-at-odds", 3),
    "a switch twice": (b"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", None, "switches-at-odds", 2),
    "a child that is not there": (b"SwitchName=a Nodes=n1\nSwitchName=p Switches=a,b\n", None, "switches-at-odds", 2),
    "nodes and switches on one line": (b"SwitchName=a Nodes=n1\nSwitchName=p Switches=a Nodes=n2\n", None, "switches-at-odds", 2),
    "switches and blocks in one file": (b"SwitchName=a Nodes=n1\nBlockName=b Nodes=n2\n", None, "switches-at-odds", 2),
    "a scan cut short": ((CASES / "ibnetdiscover-rails.txt").read_bytes()[:1500], None, "topology-out-of-form", None),
    "a line of a scan that is broken": (b'Switch\t4 "S-0001"\t\t# "leaf"\n[1]\t"H-0002"\n', None, "topology-out-of-form", 2),
    "two kinds in one topology": (b"- topology: a\n  flat: true\n  tree: {switches: []}\n", None, "topology-out-of-form", 1),
    "labels of two kinds": (b"kind: List\nitems:\n" + b"".join(b"- {kind: Node, metadata: {name: n%d, labels: {%s: x}}}\n" % (n, key) for n, key in enumerate([b"fabric.topograph.run/tier-0", b"cloud.provider.com/topology-rack"])), None, "switches-at-odds", 1),
    "a block on a switch that is not there": (b"switches:\n  a: {switches: [b]}\nblocks:\n- {switch: c, nodes: [n1]}\n", None, "switches-at-odds", 1),
    "a key of YAML twice": (b"- topology: a\n  topology: b\n  flat: true\n", None, "duplicate-key", 2),
    "aliases that grow": (b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n" % (n, n, *[n - 1] * 8) for n in range(98, 110)), None, "yaml-bomb", None),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "kind", "slug", "line"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_at_its_place(raw, kind, slug, line):
    found = read(raw, "file", kind)
    assert not found.hierarchies
    errors = [f for f in found.findings if f.severity == "error"]
    assert slug in {f.slug for f in errors}, found.findings
    first = next(f for f in errors if f.slug == slug)
    assert first.at.name == "file" and line in (None, first.at.line)
    assert all(find(f.id).slug == f.slug and f.severity in find(f.id).severities for f in found.findings)


def test_a_file_too_large_is_not_read(monkeypatch):
    monkeypatch.setattr("iacgen.discovery.text.MAX_BYTES", 100)
    assert [f.slug for f in read(b"SwitchName=a Nodes=b\n" * 10, "file").findings] == ["unreadable-topology"]


def test_yaml_that_would_take_minutes_is_sent_back_for_json():
    (found,) = read(b"kind: List\nitems:\n" + b"- {kind: Node}\n" * 150_000, "file").findings
    assert found.slug == "unreadable-topology" and "-o json" in found.help


@pytest.mark.parametrize("name", ["gpu 1", "gpu;reboot", "$(reboot)", "gpu\u202e1", "-n", "", "a" * 300, "gpü1", "gpu/1", "gpu[1]"])
def test_what_is_no_name_of_a_host_goes_nowhere(name):
    import json

    found = read(json.dumps({"Instances": [{"InstanceId": "good", "NetworkNodes": ["a"]}, {"InstanceId": name, "NetworkNodes": ["a"]}]}).encode(), "file")
    assert all(hierarchy.hosts == ("good",) for hierarchy in found.hierarchies)
    assert found.findings and all(f.message.isprintable() for f in found.findings)


def test_switches_are_called_by_what_every_reader_takes():
    import json
    import re

    nodes = ["MF0;leaf1:MQM9700/U1", "a b\n$(c)", "x" * 200, "x" * 199 + "y", "ключ", ""]
    found = read(json.dumps([{"name": f"n{i}", "resourceStatus": {"physicalHost": f"/c/{name.replace('/', '|')}/h"}} for i, name in enumerate(nodes[:-1])]).encode(), "file")
    (hierarchy,) = found.hierarchies
    assert len(hierarchy.groups[0]) == len(nodes) - 1
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name) for name in hierarchy.groups[0])


def test_names_from_describe_instances():
    raw = b"""{"Reservations": [{"Instances": [
      {"InstanceId": "i-1", "PrivateDnsName": "ip-10-0-0-1.ec2.internal", "Tags": [{"Key": "Name", "Value": "gpu1"}, {"Key": "x", "Value": "y"}]},
      {"InstanceId": "i-2", "PrivateDnsName": "ip-10-0-0-2.ec2.internal", "Tags": [{"Key": "Name", "Value": "workers"}]}]},
      {"Instances": [{"InstanceId": "i-3", "PrivateDnsName": "ip-10-0-0-3.ec2.internal", "Tags": [{"Key": "Name", "Value": "workers"}]}, {"InstanceId": "i-4"}]}]}"""
    assert names(raw) == ({"i-1": "gpu1", "i-2": "ip-10-0-0-2", "i-3": "ip-10-0-0-3"}, ())


@pytest.mark.parametrize("text", ["id,name\ni-1,gpu1\ni-2, gpu2\n", "i-1 gpu1\n# a comment\n\ni-2\tgpu2\n", "i-1: gpu1\ni-2: gpu2\n", '"i-1";"gpu1"\n"i-2";"gpu2"\r\n'])
def test_names_from_two_columns(text):
    assert names(text.encode()) == ({"i-1": "gpu1", "i-2": "gpu2"}, ())


NO_NAMES = [(b"i-1 gpu1\ni-2\n", "topology-out-of-form", 2), (b"i-1 gpu1\ni-1 gpu2\n", "host-in-two-places", 2), (b"\xff", "unreadable-topology", 1)]


@pytest.mark.parametrize(("raw", "slug", "line"), [*NO_NAMES, (b"[1]", "topology-out-of-form", 1), (b'{"Reservations": 1}', "topology-out-of-form", 1)])
def test_names_that_are_none(raw, slug, line):
    out, findings = names(raw, "names.csv")
    assert out == {} and slug in {f.slug for f in findings} and findings[0].at.line == line and findings[0].at.name == "names.csv"


def page(hosts, token=None):
    import json

    return json.dumps({"Instances": [{"InstanceId": host, "NetworkNodes": ["nn-1", "nn-2"]} for host in hosts]} | ({"NextToken": token} if token else {})).encode()


def test_an_answer_that_goes_on_is_told_with_the_hosts_that_it_lacks():
    known = {"i-1": "gpu1", "i-2": "gpu2", "i-3": "gpu3"}
    found = read(page(["i-1"], "more"), "topo.json", names=known)
    assert [f.slug for f in found.findings] == ["host-without-place"] and found.hierarchies[0].hosts == ("gpu1",)
    assert "NextToken says that another page follows" in found.findings[0].message and "2 hosts that have names are not on it: gpu2, gpu3" in found.findings[0].message
    assert read(page(["i-1"], "more") + page(["i-2"]), "topo.json").findings == ()
    (said,) = read(page(["i-1"], "more") + page(["i-2"], "still more"), "topo.json", names={"i-3": "gpu3"}).findings
    assert "1 host that has a name is not on it: gpu3" in said.message


def test_nodes_and_names_that_go_on_are_told_too():
    (said,) = read(b'{"kind": "List", "metadata": {"continue": "x"}, "items": [{"kind": "Node", "metadata": {"name": "n1", "labels": {"nvidia.com/gpu.clique": "a"}}}]}', "nodes").findings
    assert said.slug == "host-without-place" and "continue says that another page follows" in said.message
    out, (said,) = names(b'{"NextToken": "x", "Reservations": [{"Instances": [{"InstanceId": "i-1", "PrivateDnsName": "gpu1"}]}]}')
    assert out == {"i-1": "gpu1"} and said.severity == "warning" and "NextToken" in said.message


@pytest.mark.parametrize(("raw", "kind", "more"), [(b"{\n" + b'  "a": 1,\n' * 40 + b"}\n", "slurm", 72), (b'[1] "nonsense"\n' * 31, "ibnetdiscover", 21)])
def test_of_many_faults_of_a_kind_a_few_are_told_and_how_many_more_there_are(raw, kind, more):
    """JSON has 82 words that are none of Slurm's keys, in 42 lines."""
    found = read(raw, "f", kind)
    told = [f.message for f in found.findings if f.slug == "topology-out-of-form"]
    assert len(told) == 11 and told[-1] == f"{more} more like the ones before, from here on" and not found.hierarchies


def test_hosts_get_their_names():
    raw = (CASES / "aws-ultraservers.json").read_bytes()
    given = {"i-0a01": "gpu1", "i-0a02": "gpu2", "i-0a03": "gpu2", "i-0a04": "i-0a05", "i-0a06": "gpu6"}
    hierarchy = read(raw, "f").hierarchies[0]
    assert renamed(hierarchy, given).hosts == tuple({"i-0a01": "gpu1"}.get(h, h) for h in hierarchy.hosts)
    known = read(raw, "f", names={"i-0a01": "gpu1", "i-0a06": "gpu6"})
    assert set(known.hierarchies[0].hosts) == {"gpu1", *(f"i-0a0{n}" for n in (2, 3, 4, 5, 7, 8))} and known.adrift == ("gpu6",)
    assert {"gpu1", "i-0a04"} == {h for h, d in zip(known.hierarchies[0].hosts, known.hierarchies[0].domains, strict=True) if d == "cb-01"} - {"i-0a02", "i-0a03"}
