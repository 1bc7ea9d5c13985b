"""What becomes of laid cables, against the published sizes of one and of three scalable units."""

from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric.growth import Moves, moves


def wired(count, grow_to=None, unit=32):
    pool = {"site": "hall", "system": "dgx-h100", "count": count, **({"grow_to": grow_to} if grow_to else {})}
    fabric = {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "topology": "rail-fat-tree", "switch": "qm9700", "unit": unit}
    parsed, findings = parse({"kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": {"gpu": pool}, "fabrics": {"compute": fabric}})
    assert not findings
    return design(parsed)[0].fabrics["compute"]


def test_from_four_spines_to_sixteen_all_but_a_quarter_of_the_uplinks_move():
    """One unit: 8 leaves of 32 uplinks, 8 to each of 4 spines. Three units: 2 to each of 16. No uplink keeps its port but those whose
    first two links to spine 1 on leaf 1 stand where they stood."""
    fate = moves(wired(32), wired(96))
    assert fate.stay + fate.move == 32 * 8 + 8 * 32 and fate.go == 0
    assert fate.stay >= 32 * 8 and fate.move > 200
    assert fate.new == (96 - 32) * 8 + 16 * 32


def test_a_planned_fabric_grows_without_moving_one():
    fate = moves(wired(32, 96), wired(96, 96))
    assert fate == Moves(32 * 8 + 8 * 32, 0, 0, 64 * 8 + 16 * 32) and not fate.disturbs


def test_shrinking_takes_cables_away():
    fate = moves(wired(96, 96), wired(32, 96))
    assert fate == Moves(32 * 8 + 8 * 32, 0, 64 * 8 + 16 * 32, 0) and fate.disturbs


def test_a_new_fabric_is_all_new_and_a_dropped_one_all_goes():
    assert moves(None, wired(32)) == Moves(0, 0, 0, 512)
    assert moves(wired(32), None) == Moves(0, 0, 512, 0)
