"""Bills of materials against numbers worked out by hand from the published counts of cables and the data sheets of the parts."""

import csv
import io
from dataclasses import replace

import pytest

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import fabric
from iacgen.targets.fabric.bill import SPARE_PERCENT, bill, spares
from iacgen.targets.fabric.wired import wired

BLUEPRINTS = data_folder("blueprints")


def total(rows, item, column="count"):
    return sum(int(r[column]) for r in rows if r["item"] == item)


def test_one_scalable_unit(table):
    """DGX SuperPOD H100, network fabrics, table 4, one unit: 8 leaves, 4 spines, 252 cables to nodes and UFM, 256 between switches.

    Cages by hand. Leaf: 31 node ports and a port of UFM on four leaves, 31 on the others, and 32 uplinks; two ports a cage, so 16 + 16
    cages each, 8 x 32 = 256. Spines: 64 ports, 32 cages each, 4 x 32 = 128. 256 + 128 = 384 twin-port transceivers, and as many again
    in four cages of each of 31 DGX, flat on top; one single-port transceiver in each of UFM's four ports.
    """
    rows = table("one-unit", "compute/bill-of-materials.csv")
    assert (total(rows, "switch"), total(rows, "cable", "links")) == (8 + 4, 252 + 256)
    assert total(rows, "switch transceiver") == 384
    assert {r["model"]: int(r["count"]) for r in rows if r["item"] == "host transceiver"} == {"MMA4Z00-NS-FLT": 31 * 4, "MMA4Z00-NS400": 4}
    fibres = [r for r in rows if r["medium"] == "multimode"]
    assert sum(int(r["count"]) for r in fibres) == 252 + 256  # a fibre a link, not a cage
    assert {r["power_w_each"] for r in rows if r["item"] == "switch"} == {"1720"}  # QM97X0 manual, with active cables


def test_a_twin_port_cable_serves_two_links(table):
    """Two HGX H100 beside one SN5600: 16 links of 400G over splitters of two, MCP7Y00."""
    rows = table("lab", "compute/bill-of-materials.csv")
    assert [(r["item"], r["model"], r["links"], r["count"]) for r in rows if r["item"] != "switch"] == [("cable", "MCP7Y00-Nxxx", "16", "8")]
    assert not [r for r in rows if "transceiver" in r["item"]]


def test_a_cable_is_ordered_by_the_number_of_its_length(table):
    """NVIDIA MCP7Y00-Nxxx product specifications, ordering information: 1 m ends in N001, 1.5 m in N01A, 2 m in N002, 2.5 m in N02A,
    3 m in N003. Fibres count whole metres in three digits."""
    splitters = {"1": "N001", "1.5": "N01A", "2": "N002", "2.5": "N02A", "3": "N003"}
    (cable,) = (r for r in table("lab", "compute/bill-of-materials.csv") if r["item"] == "cable")
    assert cable["part_number"] == f"MCP7Y00-{splitters[cable['length_m']]}"
    bill = table("one-unit", "compute/bill-of-materials.csv")
    fibres = [r for r in bill if r["medium"] == "multimode"]
    assert fibres and all(r["part_number"] == f"MFP7E10-N{int(r['length_m']):03d}" for r in fibres)
    assert {r["part_number"] for r in bill if "transceiver" in r["item"]} == {r["model"] for r in bill if "transceiver" in r["item"]}
    listed = {(r["part_number"], r["length_m"]) for r in table("one-unit", "compute/p2p.csv") if r["medium"] == "multimode"}
    assert listed == {(r["part_number"], r["length_m"]) for r in fibres}


def test_a_number_that_nobody_read_is_unknown(table):
    """Patch cords of twisted pair are anybody's."""
    assert {r["part_number"] for r in table("superpod-h100", "oob/bill-of-materials.csv") if r["medium"] == "twisted-pair"} == {"unknown"}


@pytest.mark.parametrize(("count", "kept"), [(1, 1), (49, 1), (50, 1), (51, 2), (100, 2), (1000, 20), (1001, 21)])
def test_two_in_a_hundred_are_kept_as_spares_and_at_least_one(count, kept):
    assert SPARE_PERCENT == 2
    assert spares(count) == kept


@pytest.mark.parametrize("case", ["superpod-h100", "lab", "one-unit", "xdr", "roce", "three-tiers", "dragonfly"])
def test_what_is_ordered_is_what_is_used_and_the_spares(table, project, case):
    for name, fabric in project(case).design.fabrics.items():
        rows = table(case, f"{name}/bill-of-materials.csv")
        links = [r for r in rows if r["item"].startswith("cable")]
        assert sum(int(r["links"]) for r in links) == sum(1 for _ in fabric.wiring())
        for row in rows:
            if row["count"] != "unknown":
                assert int(row["order"]) == int(row["count"]) + int(row["spares"])
            assert row["power_w"] != "0" and row["power_w"] != "0.0"
        lengths = {(r["label"], r["length_m"]) for r in table(case, f"{name}/p2p.csv")}
        assert {length for _, length in lengths} == {("" if r["length_m"] == "unknown" else r["length_m"]) for r in links}


def test_a_power_that_nobody_publishes_is_unknown(table):
    rows = table("xdr", "compute/bill-of-materials.csv")
    (switch,) = (r for r in rows if r["item"] == "switch")
    assert (switch["model"], switch["power_w_each"], switch["power_w"]) == ("NVIDIA Quantum-X800 Q3400-RA", "unknown", "unknown")


def test_links_without_a_cable_are_said(project):
    """They are counted, and everything else about them is unknown."""
    design = project("lab").design
    known = wired(design.fabrics["compute"], design.facilities["lab-room"])
    bare = replace(known, wires=[wire._replace(medium=None, model=None, length_m=None) for wire in known.wires], runs=[])
    (row,) = (r for r in csv.DictReader(io.StringIO(bill(bare))) if r["item"].startswith("cable"))
    assert (row["item"], row["gbps"], row["links"]) == ("cable, host-leaf", "400", "16")
    assert {row[column] for column in ("model", "medium", "length_m", "count", "spares", "order", "power_w_each", "power_w")} == {"unknown"}


def test_links_that_no_cable_reaches_are_a_line_of_their_own():
    """Racks two in a row make a hall longer than any cable of 200 Gb/s: those links are told, and the others are bought."""
    text = (BLUEPRINTS / "superpod-h100.yaml").read_text().replace("rack: {power: 42kW, units: 48}", "rack: {power: 42kW, units: 48, row_length: 2}")
    state = run(text, "x")
    assert "IAC580" in {f.id for f in state.findings} and state.project
    rows = list(csv.DictReader(io.StringIO(fabric.render(state.project)["fabric/storage/bill-of-materials.csv"], newline="")))
    without = [r for r in rows if r["model"] == "unknown" and r["item"].startswith("cable")]
    assert without and {r["order"] for r in without} == {"unknown"}
    assert total(rows, "cable", "links") + total(without, "cable, host-leaf", "links") + total(without, "cable, leaf-spine", "links") == state.design.fabrics["storage"].cables.total
