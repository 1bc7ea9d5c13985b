"""Switch files: what their readers find in them is the design's, and one lossless class runs through switch, host, NCCL and Lustre."""

import ipaddress
import json
import re

import pytest
import yaml

from iacgen.pipeline import run
from iacgen.targets import ansible, fabric, nccl

CLASSES = [(26, 3, 48, 6), (24, 2, 40, 5), (34, 4, 48, 6), (10, 1, 46, 7), (26, 0, 48, 6), (26, 7, 48, 6)]
BLUEPRINT = """kind: Cluster
schema: 1
name: classes
sites: {{h: {{kind: on-prem}}}}
nodes:
  gpu: {{site: h, system: dgx-h100, count: 9}}
  oss: {{site: h, system: lustre-oss, count: 2}}
  mds: {{site: h, system: lustre-mds, count: 2}}
fabrics:
  compute: {{site: h, purpose: compute, connects: [gpu], technology: roce, topology: rail-fat-tree, switch: sn5600, unit: 8, os: {os}, qos: &class {{dscp: {dscp}, priority: {priority}, cnp_dscp: {cnp_dscp}, cnp_priority: {cnp_priority}}}}}
  storage: {{site: h, purpose: storage, connects: [gpu, oss, mds], technology: roce, switch: sn5600, os: {os}, qos: *class}}
storage:
  scratch: {{kind: lustre, site: h, servers: oss, metadata: mds, fabric: storage, capacity: 1PB, read: 20GB/s, write: 10GB/s, mount: /scratch, clients: [gpu]}}
"""


def of_switch(tree, name, os):
    """(DSCP → priority of the two, priorities with flow control) of a fabric's switches."""
    if os == "cumulus":
        (found,) = yaml.safe_load(tree[f"fabric/{name}/switches/common.yaml"])
        qos = found["set"]["qos"]
        assert qos["roce"] == {"enable": "on", "mode": "lossless"}
        to = {int(dscp): row["switch-priority"] for dscp, row in qos["mapping"]["default-global"]["dscp"].items()}
        classes = {int(p): row["traffic-class"] for p, row in qos["egress-queue-mapping"]["default-global"]["switch-priority"].items()}
        (lossless,) = map(int, qos["pfc"]["default-global"]["switch-priority"])
        assert classes[lossless] == 3  # the class that the profile keeps for RoCE
        assert [p for p, c in classes.items() if c == 6] == [max(to.values(), key=lambda p: classes[p])]
        assert all(c == 0 for p, c in classes.items() if p not in to.values())
        return to, {lossless}
    common = json.loads(tree[f"fabric/{name}/switches/common.json"])
    to = {int(dscp): int(c) for dscp, c in common["DSCP_TO_TC_MAP"]["ROCE"].items() if c != "0"}
    lossless = set()
    for path, text in tree.items():
        if re.fullmatch(rf"fabric/{name}/switches/{name}-.*json", path):
            rows = json.loads(text)["PORT_QOS_MAP"]
            lossless |= {int(p) for row in rows.values() for p in row["pfc_enable"].split(",")}
    assert all(common[table]["ROCE"] == {str(n): str(n) for n in range(8)} for table in ("TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"))
    return to, lossless


@pytest.mark.parametrize("os", ["cumulus", "sonic"])
@pytest.mark.parametrize(("dscp", "priority", "cnp_dscp", "cnp_priority"), CLASSES)
def test_one_class_for_switch_host_nccl_and_lustre(os, dscp, priority, cnp_dscp, cnp_priority):
    state = run(BLUEPRINT.format(**locals()), "classes")
    assert state.project, state.findings
    tree = fabric.render(state.project) | ansible.render(state.project) | nccl.render(state.project)
    for name in ("compute", "storage"):
        to, lossless = of_switch(tree, name, os)
        wanted = {dscp: priority, cnp_dscp: cnp_priority}
        assert to == (wanted if os == "cumulus" else {d: p for d, p in wanted.items() if p})
        assert lossless == {priority}
    hosts = yaml.safe_load(tree["ansible/h/inventory/group_vars/roce_hosts.yml"])["roce_host_classes"]
    assert hosts == dict.fromkeys(("compute", "storage"), {"dscp": dscp, "priority": priority, "cnp_dscp": cnp_dscp, "cnp_priority": cnp_priority})
    traffic_class = dscp * 4 + 2
    assert f"NCCL_IB_TC={traffic_class}\n" in tree["nccl/nccl.conf"]
    lustre = yaml.safe_load(tree["ansible/h/inventory/group_vars/pool_oss.yml"])["lnet_networks"]
    assert {network["type_of_service"] for network in lustre} == {traffic_class}


def device_of(files, case, name):
    (text,) = (files(case)[p] for p in (f"fabric/compute/switches/{name}.yaml", f"fabric/compute/switches/{name}.json") if p in files(case))
    return yaml.safe_load(text)[0]["set"] if text.startswith("#") else json.loads(text)


@pytest.mark.parametrize("case", ["roce", "three-tiers", "planes"])
def test_cumulus_has_every_port_and_every_neighbour(files, table, case):
    """Each cabled port is an interface that says what is behind it; those to switches speak BGP without addresses, those to hosts
    are in the one segment; split cages are split in two of four lanes."""
    plan = {row["device"]: row for row in table(case, "compute/plan.csv") if row["kind"] == "switch"}
    ports = [row for row in table(case, "compute/ports.csv") if row["state"] == "used"]
    for name, row in plan.items():
        found, mine = device_of(files, case, name), [p for p in ports if p["switch"] == name]
        interfaces = found["interface"]
        assert found["system"]["hostname"] == name
        assert {p["port"]: f"{p['far_device']} {p['far_port']}" for p in mine} == {i: words["description"] for i, words in interfaces.items() if "description" in words}
        assert {i for i, words in interfaces.items() if "bridge" in words} == {p["port"] for p in mine if p["joins"] == "host-leaf"}
        assert interfaces["lo"]["ip"]["address"] == {f"{row['address']}/32": {}}
        assert {i: words["link"]["breakout"] for i, words in interfaces.items() if "link" in words} == {f"swp{p['cage']}": {"2x": {"lanes-per-port": 4}} for p in mine}
        bgp = found["vrf"]["default"]["router"]["bgp"]["neighbor"]
        assert bgp.keys() == {p["port"] for p in mine if p["joins"] != "host-leaf"}
        assert all((n["remote-as"], n["type"]) == ("external", "unnumbered") for n in bgp.values())
        assert (found["router"]["bgp"]["autonomous-system"], found["router"]["bgp"]["router-id"]) == (int(row["asn"]), row["address"])
        leaf = "leaf" in name
        assert ("nve" in found) == ("bridge" in found) == leaf
        if leaf:
            assert found["nve"]["vxlan"]["source"]["address"] == row["address"]
            assert found["nve"]["vxlan"]["encapsulation"]["dscp"]["action"] == "copy"


def test_sonic_has_every_port_and_every_neighbour(files, table):
    plan = {row["device"]: row for row in table("sonic", "compute/plan.csv") if row["kind"] == "switch"}
    ports = [row for row in table("sonic", "compute/ports.csv") if row["state"] == "used"]
    for name, row in plan.items():
        found, mine = device_of(files, "sonic", name), [p for p in ports if p["switch"] == name]
        names, links = {p["port"] for p in mine}, {p["port"] for p in mine if p["joins"] != "host-leaf"}
        for per_port in ("PORT", "PORT_QOS_MAP", "PFC_WD"):
            assert found[per_port].keys() == names
        assert found["CABLE_LENGTH"]["AZURE"].keys() == names
        assert {key.split("|")[0] for t in ("QUEUE", "BUFFER_PG", "BUFFER_QUEUE") for key in found[t]} == names
        assert found["INTERFACE"].keys() == links == {key.split("|")[1] for key in found["BGP_NEIGHBOR"]}
        assert {key.split("|")[1] for key in found.get("VLAN_MEMBER", {})} == names - links
        assert found["BGP_GLOBALS"]["default"] == {"local_asn": row["asn"], "router_id": row["address"], "load_balance_mp_relax": "true"}
        assert found["DEVICE_METADATA"]["localhost"]["hwsku"] == "Mellanox-SN5600-O128"
        assert ("VXLAN_TUNNEL" in found) == ("leaf" in name)
        every = [key.split("|")[1] for key in found["BUFFER_QUEUE"] if key.startswith(mine[0]["port"] + "|")]
        covered = [n for span in every for n in range(int(span.split("-")[0]), int(span.split("-")[-1]) + 1)]
        assert sorted(covered) == list(range(8))


@pytest.mark.parametrize("case", ["roce", "sonic", "three-tiers", "planes"])
def test_numbers_are_private_and_no_two_switches_take_each_other_for_themselves(table, project, case):
    """RFC 6996 for the range, RFC 7938 (5.2) for who shares a number: never two ends of a link, never two leaves."""
    rows = {row["device"]: row for row in table(case, "compute/plan.csv") if row["kind"] == "switch"}
    assert all(4_200_000_000 <= int(row["asn"]) <= 4_294_967_294 for row in rows.values())
    assert len({row["address"] for row in rows.values()}) == len(rows)
    leaves = [row["asn"] for row in rows.values() if row["role"] == "leaf"]
    assert len(set(leaves)) == len(leaves)
    for cable in project(case).design.fabrics["compute"].wiring():
        if cable.a in rows:
            assert rows[cable.a]["asn"] != rows[cable.b]["asn"]
    space = ipaddress.IPv4Network("100.64.0.0/10")
    assert all(ipaddress.IPv4Address(row["address"]) in space for row in rows.values())


def test_growth_moves_no_address(table, project):
    """The same fabric with one unit more: every switch and host that was there has what it had."""
    text = "kind: Cluster\nschema: 1\nname: g\nsites: {h: {kind: on-prem}}\nnodes: {gpu: {site: h, system: hgx-h100, count: %d, grow_to: 256}}\nfabrics: {compute: {site: h, purpose: compute, connects: [gpu], technology: roce, topology: rail-fat-tree, switch: sn5600, unit: 64}}\n"
    small, large = (run(text % count, "g") for count in (64, 128))
    assert small.project and large.project, (small.findings, large.findings)
    before, after = ({tuple(row.split(",")[:5]): row for row in fabric.render(s.project)["fabric/compute/plan.csv"].splitlines()} for s in (small, large))
    assert len(before) < len(after) and before.items() <= after.items()


@pytest.mark.parametrize("os", ["cumulus", "sonic"])
def test_a_port_slower_than_the_others_is_told_so(os):
    """Ports of hosts at 200 Gb/s beside servers at 400 Gb/s: a port comes up at the speed of the layout, 400, and no link would."""
    mixed = BLUEPRINT.replace("dgx-h100", "hgx-h100").format(os=os, dscp=26, priority=3, cnp_dscp=48, cnp_priority=6)
    state = run(mixed, "classes")
    assert state.project, state.findings
    tree, speeds, ports = fabric.render(state.project), {}, {}
    for path, text in tree.items():
        if not re.fullmatch(r"fabric/storage/switches/storage-.*\.(json|yaml)", path):
            continue
        name = path.rpartition("/")[2].rpartition(".")[0]
        if os == "cumulus":
            found = yaml.safe_load(text)[0]["set"]["interface"].items()
            ports |= {(name, port): words["description"].split()[0] for port, words in found if "description" in words}
            speeds |= {(name, port): words["link"]["speed"] for port, words in found if "speed" in words.get("link", {})}
        else:
            ports |= {(name, port): row["description"].split()[0] for port, row in json.loads(text)["PORT"].items()}
            speeds |= {(name, port): row["speed"] for port, row in json.loads(text)["PORT"].items() if "speed" in row}
    slow = {port for port, device in ports.items() if device.startswith("gpu")}
    assert slow and speeds == dict.fromkeys(slow, "200G" if os == "cumulus" else "200000")
