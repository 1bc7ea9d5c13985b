"""Every finding about a blueprint has a case that shows it, at the words that the user would mend."""

import re
from pathlib import Path

import pytest
import yaml

from iacgen import checks
from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
FILES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
CASES = [(f"{file.stem}: {case['says']}", case) for file in FILES for case in yaml.safe_load(file.read_text())]


def edited(case):
    if "whole" in case:
        return case["whole"]
    text = (ROOT / "blueprints" / f"{case.get('base', 'lab')}.yaml").read_text()
    for old, new in case["edit"].items():
        assert old in text, f"the case edits what is not there: {old!r}"
        text = text.replace(old, new, 1)
    return text


def place_of(mark, text):
    """Line and column of a text that stands there once; «» in it says where in it the place is, otherwise at its beginning."""
    before, inside, after = mark.partition("«»")
    words = before + after
    assert text.count(words) == 1, f"{words!r} stands there {text.count(words)} times"
    rows = text[: text.index(words) + (len(before) if inside else 0)].split("\n")
    return len(rows), len(rows[-1]) + 1


GRAVITY = ("error", "warning", "info")


def as_grave(findings, severity):
    """Ids of the findings that are at least as grave; those about a job's numbers have their own cases."""
    return {f.id for f in findings if GRAVITY.index(f.severity) <= GRAVITY.index(severity) and not f.id.startswith("IAC3")}


@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[i for i, _ in CASES])
def test_case(case):
    """``finds`` stands alone among all that is as grave, but for what ``also`` names; with null there is no error, nor the finding
    that ``not`` names. ``at`` is the text at its place; a list where it is found at several, each told in the case."""
    text = edited(case)
    state = run(text, "x.yaml", case.get("profile", "production"))
    if case["finds"] is None:
        assert case.get("not") not in {f.id for f in state.findings}
        assert as_grave(state.findings, "error") <= set(case.get("also", []))
        return
    found = [f for f in state.findings if f.id == case["finds"]]
    assert found, {f.id for f in state.findings}
    assert as_grave(state.findings, max((f.severity for f in found), key=GRAVITY.index)) == {case["finds"], *case.get("also", [])}
    if "severity" in case:
        assert {f.severity for f in found} == {case["severity"]}
    marks = case["at"] if isinstance(case["at"], list) else [case["at"]]
    spans = [state.document.place(f) for f in found]
    assert sorted((s.line, s.column) for s in spans) == sorted(place_of(mark, text) for mark in marks)
    if "help" in case:
        assert {f.help for f in found} == {case["help"]}


def test_every_check_has_a_case_that_it_passes():
    passed = {case.get("not") for _, case in CASES if case["finds"] is None}
    assert {rule.id for stage in checks.STAGES for rule in checks.rules(stage)} - passed == set()


def test_every_id_has_a_case():
    shown = {i for _, case in CASES for i in (case["finds"], *case.get("also", []))}
    sources = [*(ROOT / "iacgen/checks").rglob("*.py"), ROOT / "iacgen/design/build.py"]
    raised = {i for file in sources for i in re.findall(r'"(IAC\d{3})"', file.read_text())}
    assert raised - shown == set()
