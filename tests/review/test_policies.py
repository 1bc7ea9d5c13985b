"""Every key of the language says what its change means, and every rule is what a real edit comes to."""

import typing
from functools import cache
from pathlib import Path

import pytest
from pydantic import BaseModel

from iacgen.blueprint import Blueprint, assemble, parse
from iacgen.review.changes import LEFT_OUT, changes
from iacgen.review.model import Effect, Side
from iacgen.review.policies import POLICIES
from iacgen.review.policy import consequence, rule_of
from iacgen.review.rule import Seen

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


def sections(annotation):
    """Every section class that an annotation leads to, each once."""
    found = {}
    stack = [annotation]
    while stack:
        part = stack.pop()
        if isinstance(part, type) and issubclass(part, BaseModel):
            if part not in found:
                found[part] = None
                stack += [field.annotation for field in part.model_fields.values()]
        else:
            stack += typing.get_args(part)
    return list(found)


def bare(annotation):
    """Without Annotated: pydantic keeps it of the members of a union."""
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is typing.Annotated else annotation


def differs_itself(model, name, field):
    """Whether the key can be a change of its own: it has more than one value, and is no section that is always there."""
    annotation = bare(field.annotation)
    if annotation is type(None) or (typing.get_origin(annotation) is typing.Literal and len(typing.get_args(annotation)) == 1):
        return False
    always_there = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    only_section = (model.__name__, field.alias or name) in LEFT_OUT and len(sections(annotation)) == 1
    return not always_there and not only_section


FIELDS = [(model.__name__, field.alias or name) for model in sections(Blueprint) for name, field in model.model_fields.items() if differs_itself(model, name, field)]
RULES = [pytest.param(section, key, rule, id=f"{section}.{key}-{n}") for section, table in POLICIES.items() for key, rules in table.items() for n, rule in enumerate(rules)]


@cache
def blueprint(base, sets):
    document, findings = assemble(((BLUEPRINTS / f"{base}.yaml").read_bytes(), base), sets=sets)
    parsed, more = parse(document.data)
    assert parsed, [*findings, *more]
    return parsed


def test_section_names_are_unique():
    names = [model.__name__ for model in sections(Blueprint)]
    assert len(names) == len(set(names))


def test_every_key_has_a_policy_and_no_policy_is_of_a_key_that_is_gone():
    assert {(section, key) for section, table in POLICIES.items() for key in table} == {(s, k) for s, k in FIELDS if not (s == "Blueprint" and k in ("kind", "schema"))}


def test_the_last_rule_of_every_key_always_holds():
    for section, table in POLICIES.items():
        for key, rules in table.items():
            assert [rule.when.words == "any change" for rule in rules] == [False] * (len(rules) - 1) + [True], (section, key)


def test_every_effect_is_one_that_some_change_has():
    assert {rule.effect for table in POLICIES.values() for rules in table.values() for rule in rules} == set(Effect)


@pytest.mark.parametrize("section, key, rule", RULES)
def test_the_example_of_a_rule_comes_to_that_rule(section, key, rule):
    old, new = blueprint(rule.example.base, rule.example.old), blueprint(rule.example.base, rule.example.new)
    found = [c for c in changes(old, new) if (c.section, c.key) == (section, key)]
    assert any(rule_of(Seen(change, old, new)) is rule for change in found), (found, changes(old, new))
    change = next(c for c in found if rule_of(Seen(c, old, new)) is rule)
    said = consequence(change, Side("old", old), Side("new", new))
    assert said.effect is rule.effect and said.path == change.path
    for words in (said.reason, said.action):
        assert words.strip() == words and words.endswith(".") and "{" not in words and "None" not in words
