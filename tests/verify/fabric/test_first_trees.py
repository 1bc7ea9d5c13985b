"""What people generate first passes its own proof: halls as ``init`` writes them, and units that are not full beside managers of their own."""

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run, tree
from iacgen.starter import Wish, write
from iacgen.verify import fabric as opensm
from iacgen.verify.fabric import simgrid

HALL = """
kind: Cluster
schema: 1
name: hall
sites: {{hall: {{kind: on-prem}}}}
nodes:
  gpu: {{site: hall, system: dgx-h100, count: {nodes}}}
  sm: {{site: hall, system: generic-1u-ndr, count: {managers}}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: {topology}, switch: qm9700, manager: {{kind: {kind}, pool: sm}}}}
"""
RAILS = "rail-fat-tree, unit: 32"
HALLS = {
    "the last unit short, two managers": {"nodes": "130", "managers": 2, "topology": RAILS, "kind": "opensm"},
    "nearly full": {"nodes": "157", "managers": 1, "topology": RAILS, "kind": "ufm"},
    "grown into": {"nodes": "90, grow_to: 250", "managers": 2, "topology": RAILS, "kind": "opensm"},
    "no rails": {"nodes": "40", "managers": 2, "topology": "fat-tree", "kind": "opensm"},
}
# 40: a storage leaf of 32 ranks sends to three leaves at once, which hold 16, 12 and the rest.
FIRST = [("dgx-h100", 8), ("dgx-h100", 32), ("dgx-h100", 40), ("hgx-h100", 40), ("dgx-h100", 48)]


def verified(text, tmp_path, judge):
    state = run(text, "x.yaml", "lab")
    assert state.project, state.findings
    apply(plan(tree(state), tmp_path), tmp_path)
    verdict = judge.verify(tmp_path, state.project)
    return verdict.status, [f.message for f in verdict.findings if f.severity != "info"]


@pytest.mark.judge("opensm")
@pytest.mark.parametrize("hall", HALLS)
def test_units_that_are_not_full_pass(hall, tmp_path):
    assert verified(HALL.format(**HALLS[hall]), tmp_path, opensm) == ("passed", [])


@pytest.mark.judge("opensm", "simgrid")
@pytest.mark.parametrize(("system", "nodes"), FIRST)
def test_halls_of_init_pass(system, nodes, tmp_path):
    text = write(Wish(system, nodes, fabric="infiniband"))
    for judge in (opensm, simgrid):
        assert verified(text, tmp_path / judge.__name__, judge) == ("passed", [])
