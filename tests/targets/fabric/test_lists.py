"""Cable lists and port maps: the columns of their readers, and every link of the design in each of them, once."""

import csv
import io
import re

import pydot
import pytest

from iacgen import catalog
from iacgen.targets import facility
from iacgen.targets.fabric.ports import switch_port

FABRICS = [
    ("superpod-h100", "compute"), ("superpod-h100", "storage"), ("superpod-h100", "mgmt"), ("sockets", "mgmt"), ("lab", "compute"), ("lab", "mgmt"),
    *((case, "compute") for case in ("one-unit", "opensm", "xdr", "dragonfly", "roce", "sonic", "three-tiers", "planes")),
]  # fmt: skip
# What an adapter's number stands for in the P2P file: UFM Cable Validation Tool, "1 -> mlx5_0 P1, 2 -> mlx5_1 P1, and so on".
KINDS = {"host-leaf": "Host", "manager-leaf": "Host"}


def port_number(name, spelling, links_per_cage):
    """The link port that a name stands for, worked out from the vendor's spelling alone."""
    if spelling == "infiniband":
        whole, _, part = name.partition("/")
        return int(whole) if not part else (int(whole) - 1) * 2 + int(part)
    pattern = {"nvos": r"sw(\d+)p(\d+)", "cumulus": r"swp(\d+)(?:s(\d+))?", "sonic": r"Ethernet(\d+)()"}[spelling]
    cage, part = re.fullmatch(pattern, name).groups()
    if spelling == "sonic":
        return int(cage) * links_per_cage // 8 + 1
    return (int(cage) - 1) * links_per_cage + int(part or 0) + (0 if spelling == "nvos" else 1)


def spelling_of(fabric):
    if fabric.technology == "infiniband":
        return "nvos" if fabric.switch.id == "q3400-ra" else "infiniband"
    return fabric.os or "cumulus"


def planned(fabric):
    """The links of the design. It counts the uplink sockets of an SN2201 that is a spine from 1; on its front they are 49 to 52."""
    before = 48 if fabric.switch.id == "sn2201" else 0
    return [(c.a, c.a_port, c.b, int(c.b_port) + (before if c.joins == "leaf-spine" else 0), c.joins, c.gbps) for c in fabric.wiring()]


def lower(fabric, row, device, port, adapters):
    """The port at the lower end as the design numbers or names it."""
    if row["joins"] in KINDS:
        return port
    return str(port_number(port, spelling_of(fabric), per_cage(fabric)))


def per_cage(fabric):
    """Links of one cage, from the data sheets: two of 400G or 800G in a twin-port OSFP, one of 1G in an RJ45."""
    return {"qm9700": 2, "q3400-ra": 2, "sn5600": 2, "sn4600c": 1, "sn2201": 1}[fabric.switch.id]


@pytest.mark.parametrize(("case", "name"), FABRICS)
def test_the_columns_are_the_readers_own(files, case, name):
    heads = {path: files(case)[f"fabric/{name}/{path}"].partition("\n")[0] for path in ("cables.csv", "netbox-cables.csv")}
    assert heads["cables.csv"] == "A-Rack,A-U,A-Node Name,A-Type,A-Port,Z-Rack,Z-RU,Z-Node Name,Z-Type,Z-Port"
    assert heads["netbox-cables.csv"] == "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,type,status,label,length,length_unit"


@pytest.mark.parametrize(("case", "name"), FABRICS)
def test_every_link_of_the_design_is_one_row_of_each_list(project, table, case, name):
    fabric = project(case).design.fabrics[name]
    found = []
    for row in table(case, f"{name}/p2p.csv"):
        near = lower(fabric, row, row["a_device"], row["a_port"], None)
        found.append((row["a_device"], near, row["z_device"], port_number(row["z_port"], spelling_of(fabric), per_cage(fabric)), row["joins"], int(row["gbps"])))
    wanted = planned(fabric)
    if fabric.technology in ("roce", "ethernet"):  # hosts are told by interface there, the design has adapters: compare by order
        found, wanted = ([(a, None if joins in KINDS else ap, *rest, joins, gbps) for a, ap, *rest, joins, gbps in some] for some in (found, wanted))
    assert found == wanted
    assert len(table(case, f"{name}/netbox-cables.csv")) == len(wanted)
    for p2p, ufm, netbox in zip(table(case, f"{name}/p2p.csv"), table(case, f"{name}/cables.csv"), table(case, f"{name}/netbox-cables.csv"), strict=True):
        ends = [p2p["a_device"], p2p["z_device"]]
        assert [ufm["A-Node Name"], ufm["Z-Node Name"]] == ends == [netbox["side_a_device"], netbox["side_b_device"]]
        assert (ufm["Z-Port"], netbox["side_b_name"], ufm["Z-Type"]) == (p2p["z_port"], p2p["z_port"], "Switch")
        assert ufm["A-Type"] == KINDS.get(p2p["joins"], "Switch") == p2p["a_type"].capitalize()
        assert (ufm["A-Rack"], ufm["A-U"], ufm["Z-Rack"], ufm["Z-RU"]) == (p2p["a_rack"], p2p["a_unit"], p2p["z_rack"], p2p["z_unit"])
        assert (netbox["side_a_type"], netbox["side_b_type"], netbox["status"]) == ("dcim.interface", "dcim.interface", "planned")
        assert (netbox["label"], netbox["length"]) == (p2p["label"], p2p["length_m"])


@pytest.mark.parametrize(("case", "name"), FABRICS)
def test_both_ends_are_found_by_row_and_place(project, table, case, name):
    """As the hall's own table of racks has them."""
    hall = csv.DictReader(io.StringIO(facility.render(project(case))["facility/racks.csv"], newline=""))
    stands = {row["name"]: (row["row"], row["place"], row["rack"], row["unit"]) for row in hall}
    for row in table(case, f"{name}/p2p.csv"):
        for side in "az":
            assert tuple(row[f"{side}_{key}"] for key in ("row", "place", "rack", "unit")) == stands[row[f"{side}_device"]]


@pytest.mark.parametrize(("case", "name"), FABRICS)
def test_no_port_and_no_label_is_there_twice(table, case, name):
    rows = table(case, f"{name}/p2p.csv")
    ends = [(row[f"{side}_device"], row[f"{side}_port"]) for row in rows for side in "az"]
    assert len(ends) == len(set(ends))
    labels = [row["label"] for row in rows]
    assert len(labels) == len(set(labels)) and all(len(text) <= 100 for text in labels)  # NetBox: 100 characters


@pytest.mark.parametrize(("case", "name"), FABRICS)
def test_the_port_map_is_the_wiring(project, table, case, name):
    """Used ports are exactly the ends of links; all others of every switch are free or reserved, and there are as many as it has."""
    fabric = project(case).design.fabrics[name]
    rows = table(case, f"{name}/ports.csv")
    used = {(r["switch"], r["port"]): (r["far_device"], r["far_port"], r["label"]) for r in rows if r["state"] == "used"}
    wanted = {}
    for row in table(case, f"{name}/p2p.csv"):
        wanted[row["z_device"], row["z_port"]] = (row["a_device"], row["a_port"], row["label"])
        if row["a_type"] == "switch":
            wanted[row["a_device"], row["a_port"]] = (row["z_device"], row["z_port"], row["label"])
    assert used == wanted
    each = {"qm9700": 64, "q3400-ra": 144, "sn5600": 128, "sn4600c": 64, "sn2201": 52}[fabric.switch.id]
    assert len(rows) == each * fabric.switches == len({(r["switch"], r["port"]) for r in rows})
    assert {r["state"] for r in rows} <= {"used", "free", "reserved"}


def test_a_manager_keeps_its_ports_on_every_leaf_of_the_first_unit(table):
    """UFM takes four leaf ports (DGX SuperPOD H100, network fabrics, table 4) on four of the eight leaves; the place that a node is
    missing for it stays empty on the other four."""
    rows = table("one-unit", "compute/ports.csv")
    assert sorted(r["switch"] for r in rows if r["state"] == "reserved") == [f"compute-su1-leaf{n}" for n in (5, 6, 7, 8)]
    assert sorted(r["switch"] for r in rows if r["joins"] == "manager-leaf") == [f"compute-su1-leaf{n}" for n in (1, 2, 3, 4)]
    assert not [r for r in rows if r["state"] == "free" and "leaf" in r["switch"]]


def test_infiniband_hosts_are_told_by_number(table):
    """The map of adapters turns the number back into the name that the adapter has on the host."""
    numbers = {row["port"]: row["hca-name"] for row in table("superpod-h100", "compute/hca-map.csv")}
    assert numbers["1"] == "mlx5_0" and numbers["12"] == "mlx5_11"
    for ufm, p2p in zip(table("superpod-h100", "compute/cables.csv"), table("superpod-h100", "compute/p2p.csv"), strict=True):
        if ufm["A-Type"] == "Host":
            assert numbers[ufm["A-Port"]] == p2p["a_port"]


@pytest.mark.parametrize(
    ("case", "first", "last"),
    [("one-unit", "1", "64"), ("xdr", "sw1p1", "sw72p2"), ("roce", "swp1s0", "swp64s1"), ("sonic", "Ethernet0", "Ethernet508")],
)
def test_ports_are_spelt_as_the_switch_does(table, case, first, last):
    """SONiC: port_config.ini of Mellanox-SN5600-O128 begins with Ethernet0 and ends with Ethernet508."""
    rows = [r["port"] for r in table(case, "compute/ports.csv") if r["switch"] == "compute-su1-leaf1"]
    assert (rows[0], rows[-1]) == (first, last)


@pytest.mark.parametrize(
    ("model", "gbps", "number", "name"),
    [("qm9700", 400, 64, "64"), ("qm9700", 200, 1, "1/1"), ("qm9700", 200, 128, "64/2"), ("qm8700", 200, 40, "40"), ("qm8700", 100, 79, "40/1"), ("q3400-ra", 800, 144, "sw72p2")],
)
def test_a_split_port_has_two_numbers(model, gbps, number, name):
    """UFM Cable Validation Tool, P2P file: a single number, or a split port such as 1/2."""
    switch = catalog.switch(model)
    assert switch_port(switch, "nvos" if "nvos" in switch.software else "infiniband", gbps, gbps, number).name == name


def test_uplink_sockets_come_behind_the_others(table):
    """SN2201: sockets 1 to 48 of 1G, cages 49 to 52 of 100G; a leaf uses the last, and a spine of the same model the same ones."""
    rows = table("sockets", "mgmt/p2p.csv")
    up = {row["a_cage"] for row in rows if row["joins"] == "leaf-spine"} | {row["z_cage"] for row in rows if row["joins"] == "leaf-spine"}
    assert up and up <= {"49", "50", "51", "52"}
    assert all(int(row["z_cage"]) <= 48 for row in rows if row["joins"] == "host-leaf")


@pytest.mark.filterwarnings("ignore:.* deprecated - use:DeprecationWarning")  # of a library below the parser
@pytest.mark.parametrize(("case", "name"), [("roce", "compute"), ("lab", "compute"), ("lab", "mgmt"), ("out-of-band", "front"), ("out-of-band", "oob"), ("three-tiers", "compute")])
def test_the_dot_file_is_the_cable_list(files, table, case, name):
    """Read by a parser of DOT: every switch once with its role, every link of the list once, and nothing else."""
    (graph,) = pydot.graph_from_dot_data(files(case)[f"fabric/{name}/topology.dot"])
    ports = table(case, f"{name}/ports.csv")
    nodes = {node.get_name().strip('"'): node.get_attributes() for node in graph.get_nodes()}
    assert nodes.keys() == {row["switch"] for row in ports}
    assert {words["role"].strip('"') for node, words in nodes.items() if "core" in node} <= {"super_spine"}
    assert all(words["os"].strip('"') == "cumulus" and words["label"].strip('"') == node for node, words in nodes.items())
    found = sorted(sorted(end.replace('"', "") for end in (edge.get_source(), edge.get_destination())) for edge in graph.get_edges())
    rows = table(case, f"{name}/p2p.csv")
    assert found == sorted(sorted((f"{r['a_device']}:{r['a_port']}", f"{r['z_device']}:{r['z_port']}")) for r in rows)


@pytest.mark.parametrize(("case", "name"), [("sonic", "compute"), ("superpod-h100", "compute")])
def test_no_dot_file_where_nobody_reads_it(files, case, name):
    assert f"fabric/{name}/topology.dot" not in files(case)


def test_a_host_with_shared_cages_tells_which(table):
    """NVIDIA DGX H100/H200 User Guide, table 6: mlx5_0 and mlx5_5 are behind OSFP4; UFM's host has a cage a port."""
    rows = [r for r in table("one-unit", "compute/p2p.csv") if r["joins"] == "host-leaf"]
    behind = {"mlx5_0": "4", "mlx5_3": "3", "mlx5_4": "3", "mlx5_5": "4", "mlx5_6": "1", "mlx5_9": "2", "mlx5_10": "2", "mlx5_11": "1"}
    assert {(r["a_port"], r["a_cage"]) for r in rows} == set(behind.items())
    assert {r["a_cage"] for r in table("one-unit", "compute/p2p.csv") if r["joins"] == "manager-leaf"} == {""}
    sockets = {"mlx5_0": "OSFP4P2", "mlx5_3": "OSFP3P2", "mlx5_4": "OSFP3P1", "mlx5_5": "OSFP4P1", "mlx5_6": "OSFP1P2", "mlx5_9": "OSFP2P2", "mlx5_10": "OSFP2P1", "mlx5_11": "OSFP1P1"}
    assert {(r["a_port"], r["a_socket"]) for r in rows} == set(sockets.items())
    assert all(f"-{r['a_socket']} to " in r["label"] for r in rows)


@pytest.mark.parametrize("case", ["one-unit", "three-tiers", "dragonfly", "planes"])
def test_the_bill_has_a_transceiver_for_every_cage_that_the_list_shows(case, table):
    """Cages of the list with a fibre in them, where it names them, against the bill of the same fabric."""
    rows, bill = (table(case, f"compute/{name}.csv") for name in ("p2p", "bill-of-materials"))
    fibres = [r for r in rows if r["medium"] in ("multimode", "single-mode")]
    cages = {(r["z_device"], r["z_cage"]) for r in fibres} | {(r["a_device"], r["a_cage"]) for r in fibres if r["a_type"] == "switch"}
    assert len(cages) == sum(int(r["count"]) for r in bill if r["item"] == "switch transceiver")
    hosts = {(r["a_device"], r["a_cage"] or r["a_port"].partition("/")[0]) for r in fibres if r["a_type"] == "host"}
    assert len(hosts) == sum(int(r["count"]) for r in bill if r["item"] == "host transceiver")
