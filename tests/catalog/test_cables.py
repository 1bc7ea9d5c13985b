"""Cables and transceivers against what is published about them, and what the type refuses."""

import pytest
from pydantic import ValidationError

from iacgen import catalog
from iacgen.catalog import Cable
from iacgen.catalog.cables import takes

CABLES = catalog.entries("cables")


@pytest.mark.parametrize(
    ("id", "reach_m"),
    [
        ("400g-dac", 2),  # NVIDIA MCP4Y10: 0.5 to 2 m
        ("400g-dac-splitter", 3),  # MCP7Y00: 1 to 3 m
        ("400g-acc", 5),  # MCA4J80: 3, 4 and 5 m
        ("400g-multimode", 50),  # MMA4Z00: OM4
        ("400g-single-mode-100m", 100),  # MMS4X00-NS
        ("400g-single-mode-500m", 500),  # MMS4X00-NM
        ("400g-single-mode-2km", 2000),  # MMS4X50-NM
        ("1g-twisted-pair", 100),  # IEEE 802.3, 1000BASE-T
    ],
)
def test_reach_is_the_published_one(id: str, reach_m: int):
    cable = catalog.cable(id)
    assert reach_m == cable.reach_m == cable.longest_m


def test_a_step_ends_within_reach():
    fibre = catalog.cable("400g-single-mode-100m")
    assert 95 == fibre.model_copy(update={"step_m": 19}).longest_m
    assert 50 == fibre.model_copy(update={"step_m": None}).longest_m


@pytest.mark.parametrize("gbps", sorted({g for s in catalog.entries("switches") for g in s.ports_by_gbps} & {1, 100, 200, 400, 800}))
def test_every_speed_of_a_switch_has_a_cable(gbps: int):
    assert catalog.cables(gbps)


@pytest.mark.parametrize("cable", CABLES, ids=lambda c: c.id)
def test_optics_cost_power_at_the_end_in_the_switch_and_copper_has_none(cable: Cable):
    if cable.medium in ("multimode", "single-mode"):
        assert cable.switch_transceiver and cable.power_w is None
        assert bool(cable.host_ends) == ("host-switch" in cable.between)
    if cable.medium == "dac" and cable.power_w is not None:
        assert cable.power_w <= 0.1


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "dac-400g"}, "begins with 400g-"),
        ({"lengths_m": [1, 0.5]}, "ascend"),
        ({"lengths_m": [1, 1]}, "ascend"),
        ({"lengths_m": [3]}, "longer than the reach"),
        ({"part_numbers": {3: "MCP4Y10-N003"}}, "3.0 m, which is no length on sale"),
        ({"switch_transceiver": {"model": "x", "links": 1}}, "nothing else, has transceivers"),
        ({"host_ends": {"osfp": {"links": 1}}}, "where hosts are joined"),
        ({"between": ["host-switch"]}, "where hosts are joined"),
        ({"between": ["host-switch"], "host_ends": {"osfp": {"links": 1, "model": "x"}}}, "nothing else, has transceivers"),
        ({"between": ["host-switch"], "host_ends": {"osfp": {"links": 2}}}, "twin cages"),
        ({"between": ["host-switch"], "host_ends": {"twin_osfp": {"links": 3}}}, "one link of the cable or all"),
        ({"between": ["host-switch"], "host_ends": {"cfp": {"links": 1}}}, "cfp"),
        ({"medium": "multimode"}, "nothing else, has transceivers"),
        ({"medium": "string"}, "medium"),
        ({"reach_m": 0}, "greater than 0"),
    ],
)
def test_a_cable_that_cannot_be_is_refused(changes: dict, complaint: str):
    data = catalog.cable("400g-dac").model_dump() | changes
    with pytest.raises(ValidationError, match=complaint):
        Cable.model_validate(data)


@pytest.mark.parametrize(
    ("cage", "plug", "goes_in"),
    [("osfp", "osfp", True), ("qsfp112", "qsfp56", True), ("qsfp112", "qsfp28", True), ("qsfp56", "qsfp28", True), ("qsfp28", "qsfp56", False), ("osfp", "qsfp112", False), (None, "osfp", False)],
)
def test_an_older_qsfp_goes_into_a_newer_cage(cage: str, plug: str, goes_in: bool):
    assert takes(cage, plug) is goes_in


@pytest.mark.parametrize(
    ("id", "form", "links", "transceiver"),
    [
        ("400g-multimode", "osfp", 1, "MMA4Z00-NS400"),  # ConnectX-7 with an OSFP cage
        ("400g-multimode", "osfp", 2, "MMA4Z00-NS-FLT"),  # DGX H100: twin-port, flat top
        ("400g-multimode", "qsfp112", 1, "MMA1Z00-NS400"),  # BlueField-3
        ("400g-single-mode-100m", "qsfp112", 1, "MMS1X00-NS400"),
        ("100g-multimode", "qsfp112", 1, "MMA1B00-C100D"),
    ],
)
def test_a_host_takes_the_transceiver_of_its_cage(id: str, form: str, links: int, transceiver: str):
    end = catalog.cable(id).host_end(form, links)
    assert end and (transceiver, links) == (end.model, end.links)


@pytest.mark.parametrize(("id", "form", "links"), [("400g-dac-splitter", "osfp", 2), ("400g-dac-splitter", "qsfp112", 1), ("400g-dac-host", "osfp", 1), ("400g-dac", "osfp", 2)])
def test_copper_ends_in_no_other_cage(id: str, form: str, links: int):
    """NVIDIA, MCP7Y00: a splitter's single-port ends are for single-port adapters; MCP4Y10 with a flat top is for the twin cage of a DGX."""
    assert catalog.cable(id).host_end(form, links) is None
