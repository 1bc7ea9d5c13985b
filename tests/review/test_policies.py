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


SHIPPED = ["lab", "superpod-h100", "aws-p5"]


@pytest.mark.parametrize("old", SHIPPED)
@pytest.mark.parametrize("new", SHIPPED)
def test_whatever_turns_into_whatever_has_a_consequence(old, new):
    sides = [Side(name, blueprint(name, ())) for name in (old, new)]
    said = [consequence(change, *sides) for change in changes(sides[0].blueprint, sides[1].blueprint)]
    assert bool(said) == (old != new)
    assert all(c.reason and c.action and c.source == "policy" for c in said)
    assert old == new or max(c.effect for c in said) >= Effect.STOP


def test_words_of_the_user_stay_as_they_are():
    """A value with braces is no place to put something else into."""
    old, new = blueprint("lab", ()), blueprint("lab", ("training.pretrain.description='{old} {0} %s'",))
    (change,) = changes(old, new)
    assert consequence(change, Side("a", old), Side("b", new)).new == "{old} {0} %s"


@pytest.mark.parametrize(
    "base, words, effect",
    [
        # FSx for Lustre User Guide, "Managing storage capacity": increase only; terraform-provider-aws, storage_capacity: ForceNew when it shrinks.
        ("aws-p5", "storage.fsx.capacity=50400GiB", Effect.RECONFIGURE),
        ("aws-p5", "storage.fsx.capacity=2400GiB", Effect.DESTROY),
        # aws-parallelcluster#4651: a subnet or security group that is edited takes the file system with it.
        ("aws-p5", "sites.ohio.zone=us-east-2c", Effect.DESTROY),
        ("aws-p5", "sites.ohio.security_group={id: sg-0a1b2c3d4e5f67890, members: [all]}", Effect.DESTROY),
        # Slurm Upgrade Guide: 24.11 reads state of 23.02 and later; what is newer is not read by what is older.
        ("aws-p5", "scheduler.version='22.05'", Effect.STOP),
        # terraform#21292: instances are keyed by name, so that the highest numbers come and go and the others stay.
        ("aws-p5", "nodes.gpu.count=17", Effect.RECONFIGURE),
        ("aws-p5", "nodes.gpu.count=15", Effect.REPLACE),
        ("superpod-h100", "nodes.oss.count=7", Effect.DESTROY),
        ("superpod-h100", "fabrics.compute.spines=32", Effect.RECABLE),
        ("superpod-h100", "software.driver='575'", Effect.DRAIN),
        ("superpod-h100", "training.pretrain.parallel.tensor=4", Effect.NOTHING),
    ],
)
def test_an_edit_of_a_known_incident_is_as_bad_as_it_was(base, words, effect):
    old, new = blueprint(base, ()), blueprint(base, (words,))
    assert max(consequence(c, Side("a", old), Side("b", new)).effect for c in changes(old, new)) is effect
