"""The loader reads plain data with positions, and refuses what YAML readers disagree on or what could grow."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen.source import read

CASES = yaml.safe_load((Path(__file__).parent / "refused.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["says"])
def test_refuses(case):
    document, findings = read(case["text"], "x.yaml")
    assert [(f.id, document.span(f.path, f.on_key).line, document.span(f.path, f.on_key).column) for f in findings] == [(case["id"], *case["at"])]


def test_reads_plain_values():
    document, findings = read('a: text\nb: [1, 2.5, true, null]\nc: "no"\nd: no\ne: 1:30\n', "x.yaml")
    assert not findings
    assert document.data == {"a": "text", "b": [1, 2.5, True, None], "c": "no", "d": "no", "e": "1:30"}


def test_knows_where_things_stand():
    document, _ = read("a:\n  b: [x, yy]\n", "x.yaml")
    assert (document.span(("a", "b", 1)).line, document.span(("a", "b", 1)).column, document.span(("a", "b", 1)).end) == (2, 10, 12)
    assert document.span(("a", "missing")) == document.span(("a",), on_key=True)


def test_an_alias_stands_where_it_is_used():
    document, findings = read("a: &x {k: 1}\nb: *x\n", "x.yaml")
    assert not findings and document.data["b"] == {"k": 1}


def test_an_alias_bomb_is_cut_off():
    text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    _, findings = read(text, "x.yaml")
    assert [f.id for f in findings] == ["IAC004"]


def test_a_huge_file_is_not_parsed():
    _, findings = read("a" * 1_000_001, "x.yaml")
    assert [f.id for f in findings] == ["IAC001"]


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_no_text_makes_it_crash(text):
    read(text, "x.yaml")


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz0-", min_size=1, max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_reads_json_as_json_does(data):
    """JSON is the part of YAML that nobody disagrees on."""
    import json

    document, findings = read(json.dumps({"k": data}), "x.yaml")
    assert not findings and document.data == {"k": data}
