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


GRAVITY = ("error", "warning", "info")


def as_grave(findings, severity):
    """Ids of the findings that are at least as grave; those about a job's numbers have their own cases."""
    return {f.id for f in findings if GRAVITY.index(f.severity) <= GRAVITY.index(severity) and not f.id.startswith("IAC3")}


@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[i for i, _ in CASES])
def test_case(case):
    """``finds`` stands alone among all that is as grave, but for what ``also`` names; with null there is no error, nor the finding
    that ``not`` names. ``at`` begins the text at the place."""
    text = edited(case)
    state = run(text, "x.yaml", case.get("profile", "production"))
    if case["finds"] is None:
        assert case.get("not") not in {f.id for f in state.findings}
        assert as_grave(state.findings, "error") <= set(case.get("also", []))
        return
    finding = next((f for f in state.findings if f.id == case["finds"]), None)
    assert finding, {f.id for f in state.findings}
    found = as_grave(state.findings, finding.severity)
    assert found == {case["finds"], *case.get("also", [])}
    if "severity" in case:
        assert finding.severity == case["severity"]
    span = state.document.place(finding)
    assert text.splitlines()[span.line - 1][span.column - 1 :].startswith(case["at"])
    if "help" in case:
        assert finding.help == case["help"]


def test_every_check_has_a_case_that_it_passes():
    passed = {case.get("not") for _, case in CASES if case["finds"] is None}
    assert {rule.id for stage in checks.STAGES for rule in checks.rules(stage)} - passed == set()


def test_every_id_has_a_case():
    shown = {i for _, case in CASES for i in (case["finds"], *case.get("also", []))}
    sources = [*(ROOT / "iacgen/checks").rglob("*.py"), ROOT / "iacgen/design/build.py"]
    raised = {i for file in sources for i in re.findall(r'"(IAC\d{3})"', file.read_text())}
    assert raised - shown == set()
