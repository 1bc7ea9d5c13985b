"""The target as a whole: every file has a reader, and what people write into a blueprint stays what it is."""

import csv
import io
import json
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen.render import UnrepresentableValue, csv_text
from iacgen.render.filters import yaml as quoted
from iacgen.targets.fabric.sonic import printed
from iacgen.targets.fabric.wired import label

CASES = ("superpod-h100", "lab", "aws-p5", "one-unit", "opensm", "xdr", "dragonfly", "roce", "sonic", "three-tiers", "planes")


@pytest.mark.parametrize("case", CASES)
def test_every_file_is_on_the_page_of_its_fabric(files, project, case):
    """With who reads it; what the page lists is there, but for the drawings, which another target writes."""
    by_fabric = {}
    for path in files(case):
        _, name, rest = path.split("/", 2)
        by_fabric.setdefault(name, set()).add(rest.partition("/")[0])
    assert by_fabric.keys() == {f.name for f in project(case).design.fabrics.values() if f.tiers}
    for name, found in by_fabric.items():
        listed = set(re.findall(r"^\| `([^`]+)` \|", files(case)[f"fabric/{name}/README.md"], flags=re.MULTILINE))
        assert {file for file in listed if not file.endswith(".svg")} == found - {"README.md"}


@pytest.mark.parametrize("case", CASES)
def test_every_reader_can_read(files, case):
    for path, text in files(case).items():
        if path.endswith(".csv"):
            widths = {len(row) for row in csv.reader(io.StringIO(text, newline=""), strict=True)}
            assert len(widths) == 1, path
        elif path.endswith(".json"):
            assert json.loads(text), path
        elif path.endswith(".yaml"):
            assert [*yaml.safe_load(text)[0]] == ["set"], path


def test_a_cloud_shows_no_switch(files):
    assert files("aws-p5") == {}


def test_the_host_side_is_pointed_at(files):
    assert "ansible/hall-a/roles/ib_host" in files("superpod-h100")["fabric/storage/README.md"]
    assert "ansible/lab-room/roles/roce_host" in files("lab")["fabric/compute/README.md"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(st.lists(TEXT, min_size=2, max_size=4), min_size=1, max_size=4))
def test_a_table_gives_back_what_went_in_or_is_refused(rows):
    """Names and descriptions with commas, quotes, line ends: read back they are the same, and none begins a formula."""
    try:
        text = csv_text(rows)
    except UnrepresentableValue:
        assert any(cell[:1] in "=+-@\t" and cell or re.search(r"[\0\r]", cell) for row in rows for cell in row)
        return
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == rows


@given(TEXT)
def test_a_description_stays_one_value_on_a_switch(text):
    assert yaml.safe_load(f"- set:\n    interface:\n      swp1:\n        description: {quoted(text)}\n")[0]["set"]["interface"]["swp1"] == {"description": text}
    assert json.loads(printed({"PORT": {"Ethernet0": {"description": text}}})) == {"PORT": {"Ethernet0": {"description": text}}}


@given(st.dictionaries(TEXT, st.dictionaries(TEXT, st.dictionaries(TEXT, TEXT, max_size=20), max_size=3), max_size=3))
def test_tables_of_sonic_are_json(tables):
    assert json.loads(printed(tables)) == tables


def test_a_label_names_both_ends():
    assert label(("R1", 24, "leaf", "P8A"), ("R2", 1, "spine", "P7A")) == "R1-U24-P8A to R2-U1-P7A"
    assert label((None, None, "ufm0001", "mlx5_0"), ("R2", 1, "leaf1", "32")) == "ufm0001-mlx5_0 to R2-U1-32"
