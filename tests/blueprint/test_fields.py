"""Promises that every section of the language keeps."""

import pytest
from pydantic import BaseModel

from iacgen.blueprint import Blueprint
from iacgen.blueprint.base import Section


def sections(annotation, found=None):
    """Every model that can stand somewhere in a blueprint."""
    found = {} if found is None else found
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation.__name__ not in found:
            found[annotation.__name__] = annotation
            for field in annotation.model_fields.values():
                sections(field.annotation, found)
    for part in getattr(annotation, "__args__", ()):
        sections(part, found)
    return found


SECTIONS = sections(Blueprint)
FIELDS = [(model, name) for model in SECTIONS.values() for name in model.model_fields]


def test_all_sections_are_seen():
    """Two that lie deep: a partition in a map of the scheduler, a kind of capacity in a union of a pool."""
    assert {"Blueprint", "Partition", "CapacityBlock", "S3", "Qos"} <= SECTIONS.keys()


@pytest.mark.parametrize("model", SECTIONS.values(), ids=SECTIONS)
def test_a_section_is_frozen_strict_and_says_what_it_is(model):
    assert issubclass(model, Section)
    assert model.model_config["frozen"] and model.model_config["strict"]
    assert model.model_config["extra"] == "forbid"
    assert model.__doc__ and model.__doc__.strip().endswith((".", ":"))


@pytest.mark.parametrize(("model", "name"), FIELDS, ids=[f"{m.__name__}.{n}" for m, n in FIELDS])
def test_a_field_says_what_it_is(model, name):
    field = model.model_fields[name]
    if name == "kind" and model is not Blueprint and not field.description:
        assert "kind" in model.model_fields and field.annotation.__args__, "the tag of a union is described by its section"
        return
    assert field.description, "no description"
    assert field.description == field.description.strip() and not field.description.endswith(".")
