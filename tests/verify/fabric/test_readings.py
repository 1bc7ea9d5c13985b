"""What the programs write, read: ibnetdiscover, ibdmchk, opensm.conf, levels and keys; and the netlist that is written for ibsim."""

from types import SimpleNamespace

import numpy as np
import pytest

from iacgen.verify.fabric import ibdmchk, lanes
from iacgen.verify.fabric.discovered import compare, parse, words
from iacgen.verify.fabric.evidence import Evidence
from iacgen.verify.fabric.netlist import netlist, sizes
from iacgen.verify.fabric.plan import Link, Plan
from iacgen.verify.fabric.rules import of_plan, of_settings
from iacgen.verify.fabric.settings import Script, Settings, guids
from iacgen.verify.fabric.settings import parse as conf

NAMES = ("host0 mlx5_0", "host1 mlx5_0")
PLAN = Plan(NAMES, (("leaf1",), ("spine1",)), {"leaf1": 4, "spine1": 4}, (Link(NAMES[0], 1, "leaf1", 1), Link(NAMES[1], 1, "leaf1", 2), Link("leaf1", 3, "spine1", 1)), NAMES)

# As ibnetdiscover of infiniband-diags 44 prints it.
FOUND = """#
# Topology file: generated on Mon Jan  1 00:00:00 2024
#
# Initiated from node 0002c90001000000 port 0002c90001000001

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x2c90000100000
switchguid=0x2c90000100000(2c90000100000)
Switch\t4 "S-0002c90000100000"\t\t# "leaf1" base port 0 lid 2 lmc 0
[1]\t"H-0002c90001000000"[1](2c90001000001) \t\t# "host0 mlx5_0" lid 1 4xSDR
[2]\t"H-0002c90001000010"[1](2c90001000011) \t\t# "host1 mlx5_0" lid 3 4xSDR
[3]\t"S-0002c90000100010"[1]\t\t# "spine1" lid 4 4xSDR

vendid=0x2c9
devid=0xd2f2
sysimgguid=0x2c90000100010
switchguid=0x2c90000100010(2c90000100010)
Switch\t4 "S-0002c90000100010"\t\t# "spine1" base port 0 lid 4 lmc 0
[1]\t"S-0002c90000100000"[3]\t\t# "leaf1" lid 2 4xSDR

vendid=0x2c9
devid=0x1021
sysimgguid=0x2c90001000010
caguid=0x2c90001000010
Ca\t1 "H-0002c90001000010"\t\t# "host1 mlx5_0"
[1](2c90001000011) \t"S-0002c90000100000"[2]\t\t# lid 3 lmc 0 "leaf1" lid 2 4xSDR

vendid=0x2c9
devid=0x1021
sysimgguid=0x2c90001000000
caguid=0x2c90001000000
Ca\t1 "H-0002c90001000000"\t\t# "host0 mlx5_0"
[1](2c90001000001) \t"S-0002c90000100000"[1]\t\t# lid 1 lmc 0 "leaf1" lid 2 4xSDR
"""


def test_what_ibnetdiscover_found_is_the_plan():
    found = parse(FOUND)
    assert found.switches == {"leaf1": 4, "spine1": 4} and sorted(found.adapters) == sorted(NAMES)
    assert compare(PLAN.links, found) == ([], [])
    assert found.guids["leaf1"] == 0x0002C90000100000


def test_exchanged_cables_are_named():
    found = parse(FOUND.replace('[1]\t"H-0002c90001000000"', '[4]\t"H-0002c90001000000"').replace('"S-0002c90000100000"[1]', '"S-0002c90000100000"[4]'))
    gone, extra = compare(PLAN.links, found)
    assert [words(link) for link in gone] == ["host0 mlx5_0 port 1 to leaf1 port 1"]
    assert [words(link) for link in extra] == ["host0 mlx5_0 port 1 to leaf1 port 4"]


def test_two_nodes_of_one_name_are_two():
    found = parse(FOUND.replace("host1 mlx5_0", "host0 mlx5_0"))
    assert len(found.adapters) == 2 and len(found.links) == 3


def test_a_netlist_reads_back_as_its_plan():
    """ibsim reads what ibnetdiscover writes, but for the LIDs."""
    assert compare(PLAN.links, parse(netlist(PLAN))) == ([], [])
    assert netlist(PLAN).count("\n\n") == 3  # a blank line between blocks
    assert sizes(PLAN) == ("-N", "12", "-S", "10", "-P", "78")  # 4 nodes, 2 switches, 2 x 5 + 2 x 2 ports, and room


def test_adapters_ports_have_the_guid_behind_their_nodes():
    assert PLAN.port_guid(NAMES[1]) == PLAN.guids[NAMES[1]] + 1
    assert len({guid // 16 for guid in PLAN.guids.values()}) == 4  # ibsim counts ports on from the node


CLEAN = """-I- Scanned:65280 CA to CA paths 
-I- Using full credit loop check.
-I- Analyzing Fabric for Credit Loops 1 SLs, 1 VLs used.
-I- no credit loops found
"""  # noqa: W291
LOOPS = """-I- Scanned:5112 CA to CA paths 
Found credit loop on: S0002c900001000c0/U1/P6 VL: 0
-E- credit loops in routing
"""  # noqa: W291
MISSING = """-E- Unassigned LFT for lid:208 Dead end at:S0002c90000100130/U1
-E- Found 15872 missing paths out of:16256 paths
-E- Some Point to Point Traversals Failed.
"""


@pytest.mark.parametrize(
    ("text", "scanned", "missing", "loops"),
    [
        (CLEAN, 65280, 0, False),
        (LOOPS, 5112, 0, True),
        (MISSING, 16256, 15872, None),
        (CLEAN.partition("-I- Using")[0], 65280, 0, None),  # it died before its word about loops
        ("", 0, 0, None),
    ],
)
def test_only_the_words_of_ibdmchk_count(text, scanned, missing, loops):
    opinion = ibdmchk.read(text)
    assert (opinion.scanned, opinion.missing, opinion.loops) == (scanned, missing, loops)


def test_opensm_conf():
    text = "# comment\nrouting_engine ftree,no_fallback\n\nqos TRUE\nroot_guid_file roots\nlmc 0\nlmc 1\n"
    settings = Settings(conf(text))
    assert settings.keys == {"routing_engine": "ftree,no_fallback", "qos": "TRUE", "root_guid_file": "roots", "lmc": "1"}
    assert settings.engines == ("ftree",) and not settings.may_fall_back and settings.lanes
    assert settings.relative == settings.absent == ("root_guid_file",)


@pytest.mark.parametrize(("engines", "falls"), [("ftree", True), ("ftree,updn", True), ("ftree,no_fallback", False), ("minhop", False), ("", True)])
def test_a_list_of_engines_that_falls_to_minhop(engines, falls):
    assert Settings({"routing_engine": engines}).may_fall_back is falls


def test_settings_that_go_wrong_elsewhere_are_found_before_a_run():
    script = Script("", "", "/etc/opensm/compute")
    keys = {"routing_engine": "updn", "root_guid_file": "roots", "cn_guid_file": "/etc/opensm/compute-cn-guids", "partition_config_file": "/etc/opensm/p.conf"}
    found = [(f.slug, f.message.split(" ")[0]) for f in of_settings(PLAN, Settings(keys, {}, script), ())]
    assert found == [("opensm-refused", "root_guid_file"), ("opensm-refused", "root_guid_file"), ("opensm-refused", "partition_config_file"), ("other-routing-engine", "routing_engine")]


def test_guids_are_written_as_opensm_reads_them():
    assert guids([0x0002C90000100000, 1]) == "0x0002c90000100000\n0x0000000000000001\n"


@pytest.mark.parametrize(
    ("link", "says"),
    [
        (Link("host0 mlx5_0", 1, "leaf1", 2), "two cables claim: host0 mlx5_0 port 1, leaf1 port 2"),
        (Link("spine1", 2, "leaf1", 5), "has not: leaf1 port 5"),
        (Link("leaf1", 4, "spine9", 1), "no device of the fabric: spine9"),
    ],
)
def test_a_cable_list_that_no_fabric_can_have(link, says):
    assert [f.slug for f in of_plan(PLAN, ())] == []
    findings = list(of_plan(PLAN.with_links((*PLAN.links, link)), ()))
    assert {f.slug for f in findings} == {"malformed-cable-list"} and any(says in f.message for f in findings)


def test_error_lines_of_the_log():
    log = "Nov 30 16:40:57 822926 [4CF166C0] 0x02 -> SUBNET UP\nNov 30 16:40:58 1 [4CF166C0] 0x01 -> construct_fabric: ERR AB2B: Found more than one root\n"
    assert Evidence(True, 1.0, log).errors == ["construct_fabric: ERR AB2B: Found more than one root"]


def levels(folder, rows, level, again):
    """A session's folder as the probe and opensm leave it, for two adapters."""
    (folder / "opensm-sl2vl.dump").write_text("Switch 0x1, base LID 1\n#in out : 0  1\n" + "".join(f"0   {i}   : {row}\n" for i, row in enumerate(rows)))
    (folder / "levels").write_bytes(bytes(level))
    (folder / "again").write_bytes(bytes(again))
    return SimpleNamespace(adapters=NAMES, leaves=("leaf1", "leaf2"), leaf=np.array([0, 1], dtype=np.int32))


PAIRS = np.array([[0, 1], [1, 0]], dtype=np.int32)
IDENTITY = " ".join(str(n % 8) for n in range(16))


def test_levels_that_one_pair_is_given_in_turn_are_one_lane(tmp_path):
    routes = levels(tmp_path, [IDENTITY], [2, 5], [2, 3] * 12 + [5] * 24)
    assert lanes.lanes(tmp_path, routes, PAIRS).tolist() == [[-1, 2], [5, -1]]
    routes = levels(tmp_path, [IDENTITY], [3, 5], [2, 3] * 12 + [5, 3] * 12)
    assert lanes.lanes(tmp_path, routes, PAIRS).tolist() == [[-1, 2], [2, -1]]


def test_levels_above_the_lanes_share_them(tmp_path):
    routes = levels(tmp_path, [IDENTITY], [1, 9], [1] * 24 + [9] * 24)
    assert lanes.lanes(tmp_path, routes, PAIRS).tolist() == [[-1, 1], [1, -1]]


def test_ports_that_map_levels_differently_are_refused(tmp_path):
    routes = levels(tmp_path, [IDENTITY, IDENTITY.replace("7", "6")], [1, 1], [1] * 24)
    with pytest.raises(ValueError, match="2 different maps"):
        lanes.lanes(tmp_path, routes, PAIRS)


def test_every_leaf_and_destination_is_asked_for_in_a_large_fabric():
    """300 leaves of two adapters: one source of each leaf to each destination but itself, and a second one to some."""
    count = 600
    routes = SimpleNamespace(adapters=[str(n) for n in range(count)], leaves=[str(n) for n in range(300)], leaf=np.arange(count) // 2)
    pairs = lanes.pairs_of(routes)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    asked = {(int(s) // 2, int(d)) for s, d in pairs}
    assert len(asked) == 300 * count  # with two adapters a leaf, the other one asks for its neighbour
    twice = len(pairs) - len(asked)
    assert 300 * (count // 16 - 1) <= twice <= 300 * (count // 16 + 1)


def test_keys_without_the_empty_places(tmp_path):
    (tmp_path / "pkeys").write_bytes(np.array([[0x8001, 0x7FFF] + [0] * 30, [0xFFFF] + [0] * 31], dtype=">u2").tobytes())
    assert lanes.keys(tmp_path) == [(0x8001, 0x7FFF), (0xFFFF,)]
