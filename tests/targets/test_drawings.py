"""The drawings of a tree, and the links to them."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from iacgen.pipeline import run, tree

BLUEPRINTS = sorted((Path(__file__).parents[2] / "blueprints").glob("*.yaml"))


@pytest.fixture(scope="module", params=BLUEPRINTS, ids=lambda p: p.stem)
def made(request):
    state = run(request.param.read_bytes(), "x")
    return state.design, tree(state)


def test_every_fabric_with_switches_and_every_hall_is_drawn(made):
    design, files = made
    wanted = {f"facility/{site}.svg" for site in design.facilities} | {f"fabric/{f.name}/fabric.svg" for f in design.fabrics.values() if f.tiers}
    wanted |= {f"fabric/{f.name}/rail.svg" for f in design.fabrics.values() if f.topology in ("rail-fat-tree", "rail-only")}
    assert {path for path in files if path.endswith(".svg")} == wanted
    for path in wanted:
        assert ElementTree.fromstring(files[path].encode()).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_report_links_each_of_them(made):
    _, files = made
    assert set(re.findall(r"\]\((\S+\.svg)\)", files["report.md"])) == {path for path in files if path.endswith(".svg")}
