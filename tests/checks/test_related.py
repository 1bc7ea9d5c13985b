"""A finding that speaks of another part of the blueprint shows where that is."""

import re
from pathlib import Path

import pytest
import yaml

from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
FILES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
CASES = [pytest.param(case, id=f"{file.stem}: {case['says']}") for file in FILES for case in yaml.safe_load(file.read_text(encoding="utf-8")) if case["finds"]]
WORDS = {"head", "compute", "checkpoints", "far", "storage"}  # the head node, a compute network, two checkpoints, a storage server
SECTIONS = ("sites", "nodes", "fabrics", "storage", "training")


def text_of(case):
    text = case.get("whole") or (ROOT / "blueprints" / f"{case.get('base', 'lab')}.yaml").read_text(encoding="utf-8")
    for old, new in case.get("edit", {}).items():
        text = text.replace(old, new, 1)
    return text


def words_at(path, data):
    """The steps of a path and the words of what stands there."""
    here = data
    for step in path:
        here = here[step] if (isinstance(here, list) and isinstance(step, int)) or (isinstance(here, dict) and step in here) else None
    return {*map(str, path), *re.findall(r"[\w-]+", str(here))}


def spoken_of(finding, data):
    """Names of entries in the message, but for those that are words of the language too."""
    names = {name for section in SECTIONS for name in (data.get(section) or {} if isinstance(data, dict) else {}) if isinstance(name, str)}
    return {name for name in names - WORDS if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", finding.message)}


@pytest.mark.parametrize("case", CASES)
def test_what_is_named_is_shown(case):
    state = run(text_of(case), "x.yaml", case.get("profile", "production"))
    for finding in state.findings:
        if finding.id == case["finds"]:
            data = state.document.data
            shown = {word for path in (finding.path, *(related.path for related in finding.related)) for word in words_at(path, data)}
            assert spoken_of(finding, data) - shown == set(), finding.message


def test_a_second_place_of_a_case_was_written():
    """Most notes lead to words of the file, not to defaults: else they would say nothing."""
    notes = [(related, state.document) for param in CASES for case in param.values for state in [run(text_of(case), "x.yaml", case.get("profile", "production"))] for f in state.findings if f.id == case["finds"] for related in f.related]
    written = [related for related, document in notes if related.path in document.values or related.path in document.keys]
    assert len(written) > 0.9 * len(notes) > 60
