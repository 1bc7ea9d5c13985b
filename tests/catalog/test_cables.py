"""Cables and transceivers against what is published about them, and what the type refuses."""

import pytest
from pydantic import ValidationError

from iacgen import catalog
from iacgen.catalog import Cable

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
        assert bool(cable.host_transceiver) == ("host-switch" in cable.between)
    if cable.medium == "dac" and cable.power_w is not None:
        assert cable.power_w <= 0.1


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "dac-400g"}, "begins with 400g-"),
        ({"lengths_m": [1, 0.5]}, "ascend"),
        ({"lengths_m": [1, 1]}, "ascend"),
        ({"lengths_m": [3]}, "longer than the reach"),
        ({"switch_transceiver": {"model": "x", "links": 1}}, "nothing else, has transceivers"),
        ({"medium": "multimode"}, "nothing else, has transceivers"),
        ({"medium": "string"}, "medium"),
        ({"reach_m": 0}, "greater than 0"),
    ],
)
def test_a_cable_that_cannot_be_is_refused(changes: dict, complaint: str):
    data = catalog.cable("400g-dac").model_dump() | changes
    with pytest.raises(ValidationError, match=complaint):
        Cable.model_validate(data)
