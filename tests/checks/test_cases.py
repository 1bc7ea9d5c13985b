"""Every finding about a blueprint has a case that shows it, at the words that the user would mend."""

import re
from pathlib import Path

import pytest
import yaml

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


@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[i for i, _ in CASES])
def test_case(case):
    text = edited(case)
    state = run(text, "x.yaml")
    found = [f for f in state.findings if f.severity == "error" and not f.id.startswith("IAC3")]
    if case["finds"] is None:
        assert not found
        return
    assert {f.id for f in found} == {case["finds"], *([i for i in case.get("also", []) if i in {f.id for f in found}])}
    finding = next(f for f in found if f.id == case["finds"])
    span = state.document.span(finding.path, finding.on_key)
    assert text.splitlines()[span.line - 1][span.column - 1 :].startswith(case["at"])
    if "help" in case:
        assert finding.help == case["help"]


def test_every_id_has_a_case():
    shown = {i for _, case in CASES for i in (case["finds"], *case.get("also", []))}
    sources = [*(ROOT / "iacgen/checks").rglob("*.py"), ROOT / "iacgen/blueprint/parse.py", ROOT / "iacgen/design/build.py"]
    raised = {i for file in sources for i in re.findall(r'"(IAC\d{3})"', file.read_text())}
    assert raised - shown == set()
