"""Published tables as blueprints: the whole pipeline, from the text to the files, comes to the printed counts.

test_fabrics.py asks the designer for each row alone. Here a row is what somebody would write: machines and switches of the catalog, a
hall, a manager. Its printed figures stand in the blueprint as ``quoted``, so a difference is a finding that users get, and are compared
again here, by the cables themselves.
"""

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from iacgen.pipeline import run

HERE = Path(__file__).parents[1] / "cases"
FOLDER = Path(os.environ.get("IACGEN_CASES") or HERE)
FILES = {FOLDER / "published_fabrics.json", HERE / "further_fabrics.json"}
ROWS = {case["id"]: case for file in sorted(FILES) for case in json.loads(file.read_text())["cases"]}

BLUEPRINT = """kind: Cluster
schema: 1
name: published
sites: {{hall: {{kind: on-prem, rack: {{power: 160kW, units: 48}}}}}}
nodes:
  gpu: {{site: hall, system: {system}, count: {nodes}{grow}}}
  sm: {{site: hall, system: {manager}, count: {managers}}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], topology: rail-fat-tree, {words}, unit: {unit}, quoted: {quoted}}}
"""
UFM = "manager: {kind: ufm, pool: sm}"
# Design in the words of the row → system, managers' system, their number, words of the fabric.
DESIGNS = {
    "H100 NDR with UFM": ("dgx-h100", "generic-1u-ndr", 2, f"technology: infiniband, switch: qm9700, {UFM}"),
    "H100/B200 NDR with UFM": ("dgx-h100", "generic-1u-ndr", 2, f"technology: infiniband, switch: qm9700, {UFM}"),
    "B200 NDR scale table": ("dgx-b200", "generic-1u-ndr", 2, "technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: gpu}"),
    "B300 XDR": ("dgx-b300", "generic-1u-xdr", 2, "technology: infiniband, switch: q3400-ra, manager: {kind: opensm, pool: gpu}"),
    "B300 Spectrum-X, 2 planes of 400G": ("dgx-b300", "generic-1u", 2, "technology: roce, switch: sn5600, planes: 2"),
    "GB200 NVL72": ("dgx-gb200", "generic-1u-ndr", 8, f"technology: infiniband, switch: qm9700, rail_groups: true, {UFM}"),
}
QUOTED = {"gpus": "gpus", "tiers": "tiers", "leaf": "leaf", "spine": "spine", "core": "core", "node_leaf_cables": "host_cables", "leaf_spine_cables": "leaf_spine_cables", "spine_core_cables": "spine_core_cables"}
CHOSEN = [row for row in ROWS.values() if row["kind"] == "compute_fabric" and row["inputs"].get("design") in DESIGNS]


def text_of(row, words="", grow=""):
    """Racks of NVL72 are units of 18 trays, each with a port a rail; a row of units has whole ones."""
    told = row["inputs"]
    system, manager, managers, fabric = DESIGNS[told["design"]]
    nodes, unit = told.get("nodes"), told.get("su_nodes")
    if "racks_per_su" in told:
        unit = told["gpus_per_rack"] // told["rails"]
        nodes = told["racks_per_su"] * told["scalable_units"] * unit
        fabric += f", spines: {told['spine_per_rail_group']}"
    quoted = {QUOTED[name]: figure for name, figure in row["expected"].items() if name in QUOTED}
    return BLUEPRINT.format(system=system, nodes=nodes, grow=grow, manager=manager, managers=managers, words=fabric + words, unit=unit, quoted=json.dumps(quoted))


def designed(text):
    state = run(text, "published.yaml")
    assert state.project, [f for f in state.findings if f.severity == "error"]
    assert "IAC560" not in {f.id for f in state.findings}, [f.message for f in state.findings if f.id == "IAC560"]
    return state.project.design.fabrics["compute"]


def test_every_design_has_a_row():
    assert {row["inputs"]["design"] for row in CHOSEN} == {*DESIGNS}


@pytest.mark.parametrize("row", CHOSEN, ids=lambda row: row["id"])
def test_a_published_table_as_a_blueprint(row):
    fabric, printed = designed(text_of(row)), row["expected"]
    assert len(fabric.leaves) == printed["leaf"] and len(fabric.spines) == printed["spine"] and len(fabric.cores) == printed.get("core", 0)
    laid = Counter(cable.joins for cable in fabric.wiring())
    share = row["inputs"].get("links_per_cable", 1)
    for name, joins in (("node_leaf_cables", ("host-leaf", "manager-leaf")), ("leaf_spine_cables", ("leaf-spine",)), ("spine_core_cables", ("spine-core",))):
        if name in printed:
            assert sum(laid[one] for one in joins) == printed[name] * share, name


def test_a_quoted_figure_that_differs_is_told():
    """Or the rows above would pass by silence."""
    text = text_of(ROWS["h100-2su"]).replace('"spine": 8', '"spine": 7')
    assert "IAC560" in {f.id for f in run(text, "published.yaml").findings}


def test_the_gb200_unit_is_four_subnets_each_with_its_ufm():
    """Four rail groups of 8 leaf and 6 spine; without cores nothing joins them, so each has a pair of UFM of its own."""
    row = ROWS["gb200-1su"]
    fabric = designed(text_of(row))
    assert len(fabric.subnets) == row["expected"]["rail_groups"] == 4
    for subnet in fabric.subnets:
        assert (len(subnet.leaves), len(subnet.spines)) == (row["inputs"]["leaf_per_rail_group"], row["inputs"]["spine_per_rail_group"])
        assert len(subnet.manager.hosts) == 2
    assert len({host for subnet in fabric.subnets for host in subnet.manager.hosts}) == 8


def test_the_gb200_unit_that_may_grow_is_one_subnet():
    """Laid out for all that the source allows, the cores join the rail groups: one manager, the same leaves and spines."""
    row = ROWS["gb200-1su"]
    most = row["expected"]["max_racks"] * row["inputs"]["gpus_per_rack"] // row["inputs"]["rails"]
    fabric = designed(text_of(row, f", tiers: 3, pod: {row['inputs']['racks_per_su']}", f", grow_to: {most}"))
    assert len(fabric.subnets) == 1 and len(fabric.manager.hosts) == 2
    assert (len(fabric.leaves), len(fabric.spines)) == (row["expected"]["leaf"], row["expected"]["spine"])
    assert fabric.growth.most == row["expected"]["max_racks"]
