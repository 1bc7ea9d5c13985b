"""The blueprint language as a JSON Schema, for editors: what ``parse`` takes, the schema takes.

The other way round it is as strict as the keywords of draft 2020-12 allow: unknown keys, wrong kinds, values, types, units and
patterns are refused, while "this network is not private" stays with ``parse``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import Section
from .cluster import Blueprint

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    """The schema as plain data, the same for the same models."""
    out = Blueprint.model_json_schema(by_alias=True)
    definitions = out.pop("$defs")
    models = {model.__name__: model for model in Section.__subclasses__()}
    for name, section in {"Blueprint": out, **definitions}.items():
        _describe(section, models[name])
        for node in _nodes(section):
            _refuse_other_names(node)
            _require_kinds(node, definitions)
    return {"$schema": DRAFT, **out, "title": "iacgen blueprint", "$defs": dict(sorted(definitions.items()))}


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping of the schema, the outer before the inner."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nodes(inner)


def _describe(section: dict[str, Any], model: type[Section]) -> None:
    """Words as an editor shows them: keys by their own names, defaults as they are written in YAML, none where nothing is in effect."""
    section["description"] = section["description"].replace("``", "`")
    for name, field in model.model_fields.items():
        shown = section["properties"][field.alias or name]
        shown["title"] = field.alias or name
        if shown.pop("default", None) is not None:
            written = model.model_construct(**{name: field.get_default(call_default_factory=True)})
            shown["default"] = written.model_dump(mode="json", include={name})[name]


def _refuse_other_names(node: dict[str, Any]) -> None:
    """A map's keys are names: one that does not match the pattern is refused, not ignored."""
    if "patternProperties" in node:
        node["additionalProperties"] = False


def _require_kinds(node: dict[str, Any], definitions: dict[str, Any]) -> None:
    """``kind`` chooses one of a union, so it must be there even where the chosen section has a default for it.

    ``discriminator`` is a word of OpenAPI that JSON Schema does not have; ``const`` on each ``kind`` says the same.
    """
    chosen_by = node.pop("discriminator", None) if "oneOf" in node else None
    if chosen_by is None:
        return
    for choice in node["oneOf"]:
        section = definitions[choice["$ref"].rpartition("/")[2]]
        section["required"] = sorted({*section.get("required", ()), chosen_by["propertyName"]}, key=list(section["properties"]).index)
