"""The tables of the halls, read back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from iacgen import pipeline
from iacgen.targets import facility, report

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


def project(name="superpod-h100", **changes):
    text = (BLUEPRINTS / f"{name}.yaml").read_text()
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    state = pipeline.run(text, f"{name}.yaml")
    assert state.project, state.findings
    return state.project


def tables(built) -> dict[str, list[dict[str, str]]]:
    return {Path(name).stem: list(csv.DictReader(io.StringIO(text))) for name, text in facility.render(built).items()}


@pytest.fixture(scope="module")
def superpod():
    return project()


def test_a_cloud_has_no_hall():
    assert facility.render(project("aws-p5")) == {}


def test_every_host_and_switch_stands_once(superpod):
    design = superpod.design
    wanted = [h for p in design.pools.values() for h in p.hosts] + [s for f in design.fabrics.values() for s in f.switch_names]
    assert sorted(row["name"] for row in tables(superpod)["racks"]) == sorted(wanted)


def test_a_rack_is_listed_from_the_top_down(superpod):
    rack = [row for row in tables(superpod)["racks"] if row["rack"] == "gpu-r1"]
    units = [int(row["unit"]) for row in rack]
    assert units == sorted(units, reverse=True)
    assert [(row["name"], row["unit"], row["units"], row["power_w"], row["weight_kg"]) for row in rack[-1:]] == [("gpu0001", "1", "8", "10200", "130.45")]


def test_what_is_not_published_is_empty_and_never_zero(superpod):
    found = tables(superpod)
    assert {row["power_w"] for row in found["racks"] if row["model"] == "generic-1u"} == {""}
    assert [(row["power_w"], row["not_counted"]) for row in found["power"] if row["rack"] == "ctl-r1"] == [("", "2")]
    assert all(row["power_w"] != "0" for name in ("racks", "power") for row in found[name])


def test_powers_add_up_to_those_of_the_feeds(superpod):
    found = tables(superpod)
    total = sum(int(row["power_w"] or 0) for row in found["racks"])
    assert total == sum(int(row["power_w"] or 0) for row in found["power"]) == 127 * 10_200 + (32 + 16 + 9 + 8) * 1_720 + (6 + 2) * 466 + 5 * 98
    assert [row["feed"] for row in found["feeds"]] == ["1", "2"]
    assert sum(int(row["normal_w"]) for row in found["feeds"]) == total
    assert {int(row["worst_w_one_lost"]) for row in found["feeds"]} == {total}
    assert {row["feeds"] for row in found["power"]} == {"1 2"}


def test_a_hall_without_feeds_or_plant_has_no_table_of_them():
    found = tables(project("lab"))
    assert set(found) == {"racks", "power", "cables"}
    assert {row["feeds"] for row in found["power"]} == {""}


def test_coolant_and_energy_by_hand(superpod):
    """1,411.42 kW of machines and switches; 60 s x 1,411,418 W / (0.9957 kg/l x 4,180 J/kg K x 10 K) = 2,035 l/min; 8,760 h."""
    values = {row["what"]: (row["value"], row["unit"]) for row in tables(superpod)["cooling"]}
    assert values["heat"] == values["heat into liquid"] == ("1411.4", "kW")
    assert values["coolant flow"] == ("2035", "l/min")
    assert values["energy of a year, machines at full draw"] == (str(round(1_411_418 * 8_760 / 10**6)), "MWh")
    assert "air flow" not in values and "CDUs for the heat" not in values


def test_cdus_are_listed_with_those_that_are_redundant():
    """1,411.4 kW by 500 kW: three, and one more."""
    built = project(cooling=("supply_c: 20}", "supply_c: 20, cdu: {capacity: 500kW}}"))
    values = {row["what"]: row["value"] for row in tables(built)["cooling"]}
    assert (values["CDUs for the heat"], values["CDUs with the redundant ones"], values["CDUs that stand there"]) == ("3", "4", "4")
    assert "* **CDUs of hall-a:** 3 for the heat, 4 with N+1; 4 stand there, counted on for 1,500.0 kW" in report.render(built)["report.md"]


def test_cables_of_all_fabrics_are_listed(superpod):
    cables = [row for row in tables(superpod)["cables"] if row["part"] == "cable"]
    for name, fabric in superpod.design.fabrics.items():
        assert sum(int(row["links"]) for row in cables if row["fabric"] == name) == fabric.cables.total


def test_the_report_says_what_is_left_with_a_feed_lost():
    dark = project(feeds=("{feeds: 2, redundancy: 2N, capacity: 1500kW}", '{feeds: 4, redundancy: "N", capacity: 500kW}'))
    text = report.render(dark)["report.md"]
    assert "* **Feeds of hall-a:** 4 of 500.0 kW, N: each carries up to " in text
    assert " go dark with one feed" in text
    assert "1,411.4 kW when another is lost" in report.render(project())["report.md"]


def test_weight_is_told_where_there_is_a_limit():
    text = report.render(project(rack=("units: 48}", "units: 48, weight_kg: 700}")))["report.md"]
    assert "; the heaviest holds 529 of 700 kg, without " in text  # 4 x 130.45 kg and a switch of 7.41 kg
    assert "kg" not in report.render(project())["report.md"].partition("Floor of hall-a")[2].partition("\n")[0]
