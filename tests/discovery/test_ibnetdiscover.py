"""Real ibnetdiscover, asked in a simulated fabric while a real opensm runs it, says what was planned."""

from pathlib import Path

import pytest

from iacgen.design.fabric.planned import of_fabric as hierarchy_of
from iacgen.discovery import read
from iacgen.pipeline import run
from iacgen.verify import programs
from iacgen.verify.fabric.plan import of_fabric as plan_of
from iacgen.verify.fabric.session import Programs, session
from iacgen.verify.fabric.settings import planned

pytestmark = pytest.mark.judge("opensm")
BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
PARTITIONS = "Default=0x7fff,ipoib,mtu=5: ALL=full, ALL_SWITCHES=full, SELF=full;\n"
SDR_Bps = 4 * 2e9 / 8  # ibsim brings every link up as 4x SDR


def scanned(fabric, folder):
    """(what ibnetdiscover prints, SUBNET UP?) of a fabric that opensm runs."""
    asked = Programs(**programs.fabric_programs())
    plan = plan_of(fabric)
    with session(plan, planned(plan, "minhop", PARTITIONS), folder, asked) as live:
        scan = live.ask(asked.ibnetdiscover)
    assert scan.ok and live.up
    return scan.out


@pytest.mark.parametrize("name", ["compute", "storage"])
def test_the_fabrics_of_a_superpod_are_found_as_they_are_planned(name, tmp_path, meaning):
    state = run((BLUEPRINTS / "superpod-h100.yaml").read_bytes(), "superpod-h100.yaml")
    fabric = state.design.fabrics[name]
    planned_hierarchy = hierarchy_of(fabric)
    found = read(scanned(fabric, tmp_path).encode(), "scan")
    (hierarchy,) = found.hierarchies
    meaning.consistent(hierarchy)
    assert found.kind == "ibnetdiscover" and not found.adrift and not found.missing(fabric.hosts)
    assert set(hierarchy.hosts) - set(fabric.hosts) <= set(fabric.manager.hosts)
    assert meaning.groups(hierarchy.only(fabric.hosts)) == meaning.groups(planned_hierarchy)
    assert {n % SDR_Bps for rates in hierarchy.uplink_Bps[:-1] for n in rates} == {0.0}
    if name == "compute":
        assert len(hierarchy.hosts) >= 127 and [len(g) for g in hierarchy.groups] == [4, 1] and hierarchy.node_Bps == 8 * SDR_Bps
