"""The order of a map's entries means nothing: turned round or shuffled, a blueprint gets the same findings at the same paths."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
FILES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
CASES = [(f"{file.stem}: {case['says']}", case) for file in FILES for case in yaml.safe_load(file.read_text(encoding="utf-8")) if case["finds"]]


def data_of(case):
    text = case.get("whole") or (ROOT / "blueprints" / f"{case.get('base', 'lab')}.yaml").read_text(encoding="utf-8")
    for old, new in case.get("edit", {}).items():
        text = text.replace(old, new, 1)
    return run(text, "x.yaml").document.data


def reordered(value, order):
    if isinstance(value, dict):
        return {key: reordered(value[key], order) for key in order(list(value))}
    return [reordered(item, order) for item in value] if isinstance(value, list) else value


def found(data, profile):
    """What is said and where; a name that is missing is told at the first of its places in the file, the others are its notes."""
    out = set()
    for f in run(json.dumps(data), "x.yaml", profile).findings:
        notes = frozenset((r.path, r.note) for r in f.related)
        out.add((f.id, f.message, frozenset({f.path, *(r.path for r in f.related)})) if f.slug == "unknown-reference" else (f.id, f.message, f.path, f.help, notes))
    return out


@pytest.mark.parametrize("case", [c for _, c in CASES], ids=[i for i, _ in CASES])
def test_a_blueprint_turned_round_gets_the_same_findings(case):
    data, profile = data_of(case), case.get("profile", "production")
    if isinstance(data, dict):
        assert found(reordered(data, lambda keys: keys[::-1]), profile) == found(data, profile)


@given(st.sampled_from([case for _, case in CASES]), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_shuffled_blueprint_gets_the_same_findings(case, chance):
    data, profile = data_of(case), case.get("profile", "production")
    if isinstance(data, dict):
        assert found(reordered(data, lambda keys: chance.sample(keys, len(keys))), profile) == found(data, profile)
