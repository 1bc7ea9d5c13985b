"""Broken blueprints, written from public failures: each gives exactly the findings that it marks, at exactly these places.

A case edits a shipped blueprint (``base``, ``edit``), or is a ``whole`` file; ``over`` are overlays and ``set`` single values.
``«IAC102»`` stands before the character at which that finding is expected and is no part of the text.
"""

import re
from pathlib import Path

import pytest
import yaml

from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
CASES = [pytest.param(case, id=f"{file.stem}: {case['says']}") for file in sorted(HERE.glob("*.yaml")) for case in yaml.safe_load(file.read_text(encoding="utf-8"))]
MARK = re.compile(r"«(IAC\d{3})»")


def unmarked(text, name):
    """The text without its marks, and (id, name, line, column) of each."""
    expected, parts, end = [], [], 0
    for match in MARK.finditer(text):
        parts.append(text[end : match.start()])
        end = match.end()
        before = re.split(r"\r\n|\r|\n", "".join(parts))
        expected.append((match[1], name, len(before), len(before[-1]) + 1))
    return "".join([*parts, text[end:]]), expected


def base_of(case):
    if "whole" in case:
        return case["whole"]
    text = (ROOT / "blueprints" / f"{case.get('base', 'lab')}.yaml").read_text(encoding="utf-8")
    for old, new in case.get("edit", {}).items():
        assert text.count(old) == 1, f"the case edits what stands there {text.count(old)} times: {old!r}"
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize("case", CASES)
def test_gives_exactly_what_is_marked(case):
    text, expected = unmarked(base_of(case), "base.yaml")
    layers, sets = [], []
    for i, marked in enumerate(case.get("over", []), 1):
        layer, more = unmarked(marked, f"over{i}.yaml")
        layers.append((layer, f"over{i}.yaml"))
        expected += more
    for marked in case.get("set", []):
        sets.append(MARK.sub("", marked))
        expected += unmarked(marked, f"--set {sets[-1]}")[1]
    assert expected, "the case marks nothing"
    state = run(text.encode("utf-8", "surrogatepass"), "base.yaml", case.get("profile", "production"), layers, sets)
    places = [(f, state.document.place(f)) for f in state.findings]
    marked_ids = {id for id, *_ in expected}
    found = sorted((f.id, p.name, p.line, p.column) for f, p in places if f.severity == "error" or f.id in marked_ids)
    assert found == sorted(expected), [f"{f.id} {p.name}:{p.line}:{p.column} {f.message}" for f, p in places]
    finding = next(f for f in state.findings if f.id == expected[0][0])
    if "help" in case:
        wanted = case["help"]
        if wanted and wanted.endswith("…"):  # a list of keys that grows with the language
            assert finding.help.startswith(wanted.removesuffix("…"))
        else:
            assert finding.help == wanted
    if "notes" in case:
        spans = [state.document.span(r.path, on_key=r.path in state.document.keys and r.path not in state.document.values) for r in finding.related]
        assert [[r.note, s.line] for r, s in zip(finding.related, spans, strict=True)] == case["notes"]


def test_every_case_names_the_failure_that_it_comes_from():
    for param in CASES:
        assert param.values[0].get("source"), param.id


def test_no_two_cases_are_the_same():
    seen = {}
    for param in CASES:
        case = {k: v for k, v in param.values[0].items() if k not in ("says", "source", "help")}
        other = seen.setdefault(repr(case), param.id)
        assert other == param.id


def test_the_corpus_is_as_large_as_promised():
    """Together with the cases of the checks, each of which is a blueprint too."""
    checks = [case for file in sorted((ROOT / "tests/checks/cases").glob("*.yaml")) for case in yaml.safe_load(file.read_text(encoding="utf-8"))]
    broken = [case for case in checks if case["finds"]]
    assert len(CASES) >= 150
    assert len(CASES) + len(broken) >= 250


def test_every_finding_of_file_language_and_overlays_is_in_it():
    shown = {id for param in CASES for text in (base_of(param.values[0]), *param.values[0].get("over", []), *param.values[0].get("set", [])) for id in MARK.findall(text)}
    sources = [*(ROOT / "iacgen/source").glob("*.py"), *(ROOT / "iacgen/blueprint").glob("*.py"), ROOT / "iacgen/diagnostics/bounded.py"]
    raised = {id for file in sources for id in re.findall(r'"(IAC\d{3})"', file.read_text(encoding="utf-8"))}
    elsewhere = {"IAC001", "IAC014"} | {"IAC109"}  # about bytes, in tests/source; about a hundred findings, in tests/blueprint
    assert raised - shown == elsewhere
