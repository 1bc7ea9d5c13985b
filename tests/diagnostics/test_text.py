"""Findings as text: the place in the file under a caret, and nothing of an untrusted file that a terminal would obey."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.diagnostics import Diagnostic, Related, Span
from iacgen.diagnostics.report import gather
from iacgen.diagnostics.text import render, render_text
from iacgen.pipeline import run
from iacgen.source import read

TEXT = """\
kind: Cluster
nodes:
  gpu: {system: dgx-h100, count: 127}
  ctl:
    system: generic-1u
"""


def finding(path, message="wrong", severity="error", **more):
    return Diagnostic("IAC999", "thing-found", severity, message, path, **more)


def shown(*findings, text=TEXT, name="lab.yaml"):
    document, faults = read(text, name)
    assert not faults
    return render_text(findings, document)


def test_points_at_the_value():
    assert shown(finding(("nodes", "gpu", "count"))) == (
        "error[IAC999] thing-found: wrong\n"
        " --> lab.yaml:3:34\n"
        "  |\n"
        "3 |   gpu: {system: dgx-h100, count: 127}\n"
        "  |                                  ^^^\n"
        "  = docs: iacgen explain IAC999"
    )  # fmt: skip


def test_points_at_the_key_when_the_key_is_meant():
    lines = shown(finding(("nodes", "gpu", "count"), on_key=True)).splitlines()
    assert lines[1] == " --> lab.yaml:3:27"
    assert lines[3].index("count") == lines[4].index("^") and lines[4].count("^") == len("count")


def test_points_at_what_the_user_did_write_when_a_default_is_wrong():
    lines = shown(finding(("nodes", "ctl", "width"))).splitlines()
    assert lines[1] == " --> lab.yaml:4:3"


def test_notes_and_help_follow():
    related = (Related(("nodes", "gpu", "width"), "four digits"),)
    lines = shown(finding(("nodes", "gpu", "count"), related=related, help="write less\nor more")).splitlines()
    assert lines[5:] == ["  = note: nodes.gpu.width: four digits", "  = help: write less", "          or more", "  = docs: iacgen explain IAC999"]


def test_a_second_place_that_the_user_wrote_is_shown_with_its_line():
    related = (Related(("nodes", "ctl", "system"), "the same here"), Related(("nodes", "ctl"), "in this pool"))
    lines = shown(finding(("nodes", "gpu", "count"), related=related)).splitlines()
    assert lines[3:] == [
        "3 |   gpu: {system: dgx-h100, count: 127}",
        "  |                                  ^^^",
        "  |",
        "5 |     system: generic-1u",
        "  |             ---------- the same here",
        "  |",
        "4 |   ctl:",
        "  |   --- in this pool",
        "  = docs: iacgen explain IAC999",
    ]


def test_a_second_place_in_the_same_line_repeats_no_line():
    lines = shown(finding(("nodes", "gpu", "count"), related=(Related(("nodes", "gpu", "system"), "of this"),))).splitlines()
    assert lines[3:6] == ["3 |   gpu: {system: dgx-h100, count: 127}", "  |                                  ^^^", "  |                 -------- of this"]


def test_the_gutter_is_as_wide_as_the_widest_number():
    text = TEXT.replace("nodes:", "#\n" * 95 + "nodes:")
    lines = shown(finding(("kind",), related=(Related(("nodes", "ctl", "system"), "far below"),)), text=text).splitlines()
    assert [line[:6] for line in lines[1:]] == ["   -->", "    |", "  1 | ", "    | ", "    |", "100 | ", "    | ", "    = "]


def test_a_second_place_in_another_file_is_named():
    document, _ = read(TEXT, "base.yaml")
    other, _ = read("nodes:\n  gpu: {count: 3}\n", "prod.yaml")
    both = type(document)("base.yaml", TEXT, None, document.values | {("nodes", "gpu", "count"): other.values["nodes", "gpu", "count"]}, document.keys, {"prod.yaml": other.text})
    lines = render_text([finding(("kind",), related=(Related(("nodes", "gpu", "count"), "set here"),))], both).splitlines()
    assert lines[1:] == [" --> base.yaml:1:7", "  |", "1 | kind: Cluster", "  |       ^^^^^^^", " ::: prod.yaml:2:16", "  |", "2 |   gpu: {count: 3}", "  |                - set here", "  = docs: iacgen explain IAC999"]


def test_one_mistake_behind_an_alias_is_one_error():
    text = "kind: Cluster\na: &x {count: 0}\nb: *x\nc: *x\n"
    assert shown(*(finding((name, "count"), "below one") for name in "abc"), text=text).count("error[") == 1


def test_colour_adds_nothing_but_colour():
    document, _ = read(TEXT, "lab.yaml")
    found = gather([finding(("nodes", "gpu", "count"), related=(Related(("kind",), "x"),), help="write less"), finding(("kind",), severity="warning")], document)
    colored = render(found, color=True)
    assert "\x1b[1;31merror[IAC999]\x1b[0m" in colored and "\x1b[1;33m^" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(found)


def test_findings_come_in_the_order_of_the_file():
    text = shown(finding(("nodes", "ctl", "system"), "third"), finding(("nodes", "gpu", "count"), "second"), finding(("kind",), "first"))
    assert [line.rpartition(" ")[2] for line in text.splitlines() if line.startswith("error")] == ["first", "second", "third"]


def test_the_gutter_is_as_wide_as_the_number():
    text = "#\n" * 99 + TEXT
    lines = shown(finding(("nodes", "gpu", "count")), text=text).splitlines()
    assert lines[1:] == ["   --> lab.yaml:102:34", "    |", "102 |   gpu: {system: dgx-h100, count: 127}", "    |                                  ^^^", "    = docs: iacgen explain IAC999"]


def test_a_place_past_the_last_line_still_prints():
    lines = shown(finding((), at=Span(9, 4, 5, "x.yaml")), name="x.yaml").splitlines()
    assert lines[1:5] == [" --> x.yaml:9:4", "  |", "9 |", "  |    ^"]


def test_the_caret_stays_under_the_place_in_a_long_line():
    text = f"kind: Cluster\npad: {{a: '{'x' * 5_000}', b: here}}\n"
    lines = shown(finding(("pad", "b")), text=text).splitlines()
    source, caret = lines[3], lines[4]
    assert source[caret.index("^") : caret.rindex("^") + 1] == "here"


def test_a_tab_takes_one_column_like_every_other_character():
    lines = shown(finding(("a",)), text='{pad: "x\tx", a: value}\n').splitlines()
    assert lines[3][lines[4].index("^") :].startswith("value")


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\x07", "\x08", "\r", "\u202e", "\u2066", "\u200b", "\x7f"], ids=lambda c: f"U+{ord(c):04X}")
def test_no_control_character_of_a_source_line_is_printed(character):
    document, _ = read("kind: Cluster\n", "x.yaml")
    spoilt = type(document)(document.name, f"kind: {character}[31mCluster\n", None, document.values, document.keys)
    text = render_text([finding(("kind",))], spoilt)
    assert character not in text
    assert "Cluster" in text or character == "\r"


def test_a_hostile_message_stays_within_its_lines(sample):
    for words in sample.HOSTILE:
        related = (Related(("nodes", "gpu", words), words), Related(("kind",), words))
        text = shown(finding(("kind",), words, related=related, help=words), name=words)
        assert all(c == "\n" or c.isprintable() for c in text), repr(text)
        assert all(line.startswith(("error[", " ", "1 |")) for line in text.splitlines()), text


PIECES = ["kind: Cluster", "schema: 1", "name: ", "sites: ", "a", "\n", "  ", ": ", "- ", "[", "]", "{", "}", ", ", "'", '"', "*y", "!t ", "?", "|", "@", "\\e", "\\u202e", "\\x07", "\x85", "\u2028", "\u202e", "\t", "0x1f", "---\n"]


@given(st.lists(st.sampled_from(PIECES) | st.text(st.characters(codec="utf-8"), max_size=3), max_size=16))
def test_nothing_that_a_terminal_obeys_comes_out_of_any_file(pieces):
    state = run("".join(pieces), "x.yaml")
    text = render_text(state.findings, state.document)
    assert all(c == "\n" or c.isprintable() for c in text), repr(text)


def test_no_line_is_a_command_to_a_ci():
    """Text of a blueprint that runs over lines, in a help and in a message: the runner reads commands behind blanks too."""
    text = 'kind: Cluster\nschema: 1\nname: x\nsites: {s: {kind: on-prem}}\nnodes: {gpu: {site: s, system: dgx-h100, count: 2}}\nfabrics: {c: {site: s, purpose: compute, technology: roce, connects: "a\\n::error file=x::pwned"}}\n'
    state = run(text, "x.yaml")
    shown = render_text(state.findings, state.document)
    assert "pwned" in shown
    assert not [line for line in shown.splitlines() if line.lstrip().startswith(("::", "##["))]
