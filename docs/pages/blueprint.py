"""``docs/blueprint.md``: every key of the language, read out of the pydantic models."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from iacgen.blueprint import Blueprint, base
from iacgen.blueprint.training import Cut

MARK = "<!-- From here on docs/generate.py writes this page out of iacgen/blueprint/. -->"

ALIASES: list[tuple[Any, str]] = [
    (base.Name, "name"),
    (base.PoolName, "pool name"),
    (base.CatalogId, "catalog id"),
    (base.Version, "version"),
    (base.AbsolutePath, "absolute path"),
    (base.Argument, "word"),
    (base.Subnet, "private IPv4 network"),
    (base.Bytes, "size"),
    (base.BytesPerSecond, "rate"),
    (base.Watts, "power"),
    (base.Seconds, "time"),
    (Cut, "section or `auto`"),
]
PLAIN = {int: "whole number", float: "number", str: "text", bool: "`true` or `false`"}


def page(old: str) -> str:
    """The page: what stands above the mark is kept."""
    return old.partition(MARK)[0] + MARK + "\n\n" + "\n".join(lines()).rstrip() + "\n"


def lines() -> Iterator[str]:
    """One heading and one table for each section."""
    for path, model in sections(Blueprint, ""):
        kind = _tag(model)
        title = f"`{path}`" if path else "The whole file"
        yield f"## {title}" + (f", `kind: {kind}`" if kind and path else "")
        yield ""
        yield (model.__doc__ or "").strip().replace("``", "`")
        yield ""
        rows = [_row(model, name, field) for name, field in model.model_fields.items() if not (name == "kind" and not field.description) and field.annotation is not type(None)]
        if rows:
            yield "| key | what it takes | default | meaning |"
            yield "|---|---|---|---|"
            yield from rows
            yield ""


def sections(model: type[BaseModel], path: str) -> Iterator[tuple[str, type[BaseModel]]]:
    """(path, model) of this section and of all below it, in the order of the fields."""
    yield path, model
    for name, field in model.model_fields.items():
        below = f"{path}.{field.alias or name}".lstrip(".")
        if typing.get_origin(_bare(field.annotation)) is dict:
            below += ".<name>"
        for inner in _models(field.annotation):
            yield from sections(inner, below)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for part in typing.get_args(annotation) for m in _models(part)]


def _bare(annotation: Any) -> Any:
    """``X`` of ``X | None`` and of ``Annotated[X, ...]``."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        some = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _bare(some[0]) if len(some) == 1 else annotation
    return annotation


def _tag(model: type[BaseModel]) -> str | None:
    """The ``kind`` that chooses this section out of a union."""
    field = model.model_fields.get("kind")
    values = typing.get_args(field.annotation) if field else ()
    return values[0] if len(values) == 1 else None


def _row(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    hint = typing.get_type_hints(model, include_extras=True)[name]
    cells = (f"`{field.alias or name}`", _type(hint) + _limits(field), _default(model, name, field), (field.description or "") + _merge(field))
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "\\<") for cell in cells) + " |"


def _merge(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    return "; overlays append to it" if isinstance(extra, dict) and extra.get("merge") == "append" else ""


def _type(hint: Any) -> str:
    """A type as a person would say it."""
    for alias, words in ALIASES:
        if hint == alias:
            return words
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _annotated(args)
    if origin in (typing.Union, types.UnionType):
        some = [a for a in args if a is not type(None)]
        return "section" if all(_models(a) and typing.get_origin(a) is not dict for a in some) else " or ".join(_type(a) for a in some)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if origin is tuple:
        return f"list of {_type(args[0])}"
    if origin is dict:
        return f"map of {_type(args[0])} to {_type(args[1])}"
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return "section"
    return PLAIN[hint]


def _annotated(args: tuple[Any, ...]) -> str:
    pattern = next((p for m in args[1:] if (p := getattr(m, "pattern", None))), None)
    return f"text like `{pattern}`" if pattern else _type(args[0])


def _limits(field: FieldInfo) -> str:
    """The range of a number; quantities say nothing, since all of them are positive."""
    low = next((v for m in field.metadata if (v := getattr(m, "ge", None)) is not None), None)
    high = next((v for m in field.metadata if (v := getattr(m, "le", None)) is not None), None)
    if low is None and high is None:
        return ""
    if low is None:
        return f", up to {high:,g}"
    return f", {low:,} or more" if high is None else f", {low:,g} to {high:,g}" if isinstance(low, float) else f", {low:,} to {high:,}"


def _default(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or isinstance(value, BaseModel) or value in ({}, ()):
        return "–"
    shown = model.model_construct(**{name: value}).model_dump(mode="json", include={name})[name]
    if isinstance(shown, bool):
        shown = str(shown).lower()
    if isinstance(shown, float):
        shown = f"{shown:g}"
    return f"`{', '.join(shown) if isinstance(shown, list) else shown}`"
