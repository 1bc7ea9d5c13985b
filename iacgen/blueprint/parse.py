"""Data → Blueprint, with every mistake as a Diagnostic at the place where the user made it."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import BaseModel, ValidationError

from ..diagnostics import Diagnostic
from .cluster import Blueprint

_SAYS = {
    "missing": "{last!r} is missing",
    "extra_forbidden": "unknown key {last!r}",
    "string_type": "text is wanted here; quote it if it is text",
    "int_type": "a whole number is wanted here",
    "float_type": "a number is wanted here",
    "bool_type": "true or false is wanted here",
    "dict_type": "a mapping (key: value) is wanted here",
    "model_type": "a mapping (key: value) is wanted here",
    "tuple_type": "a list is wanted here",
    "union_tag_not_found": "'kind' is missing",
}


def parse(data: Any) -> tuple[Blueprint | None, list[Diagnostic]]:
    """The typed blueprint, or None and all schema errors (ids IAC1xx) in one run."""
    if not isinstance(data, dict):
        return None, [Diagnostic("IAC101", "not-a-mapping", "error", "a blueprint is a mapping that begins with 'kind: Cluster'")]
    try:
        return Blueprint.model_validate(data), []
    except ValidationError as error:
        return None, _unique(_finding(e, data) for e in error.errors(include_url=False, include_input=False))


def _finding(error: Any, data: Any) -> Diagnostic:
    path, on_key = _path(error["loc"], data)
    kind, context, last = error["type"], error.get("ctx", {}), error["loc"][-1] if error["loc"] else ""
    if kind == "union_tag_invalid":
        wanted = str(context["expected_tags"]).replace("'", "").split(", ")
        return Diagnostic("IAC104", "unknown-kind", "error", f"unknown kind {context['tag']!r}", (*path, "kind"), help=_choices(str(context["tag"]), wanted))
    if kind == "extra_forbidden":
        known = _fields_at(path[:-1], data)
        return Diagnostic("IAC102", "unknown-key", "error", f"unknown key {last!r}", path, help=_choices(str(last), known), on_key=True)
    if kind in ("missing", "union_tag_not_found"):
        name = last if kind == "missing" else "kind"
        where = path[:-1] if kind == "missing" else path
        return Diagnostic("IAC103", "missing-key", "error", f"{name!r} is missing", where, on_key=bool(where))
    if kind == "literal_error":
        wanted = [w.strip("'") for w in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return Diagnostic("IAC105", "unknown-value", "error", f"expected {context['expected']}", path, help=_choices(str(_at(data, path)), wanted))
    if kind == "string_pattern_mismatch":
        what = f"{_at(data, path)!r} does not match {context['pattern']}" if not on_key else f"the name {path[-1]!r} does not match {context['pattern']}"
        return Diagnostic("IAC106", "malformed-text", "error", what, path, on_key=on_key)
    message = _SAYS[kind].format(last=last) if kind in _SAYS else str(context.get("error", error["msg"]))
    return Diagnostic("IAC107", "wrong-value", "error", message, path, on_key=on_key)


def _path(loc: tuple[Any, ...], data: Any) -> tuple[tuple[str | int, ...], bool]:
    """pydantic's ``loc`` without what YAML does not know: union tags and the ``[key]`` mark. Also: is the key itself meant?"""
    if loc and loc[-1] == "[key]":
        return tuple(loc[:-1]), True
    path: list[str | int] = []
    here = data
    for i, step in enumerate(loc):
        if isinstance(here, dict):
            if step in here:
                here = here[step]
            elif i < len(loc) - 1 and step == here.get("kind"):
                continue
            else:
                here = None
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
        elif i < len(loc) - 1:
            continue
        path.append(step)
    return tuple(path), False


def _at(data: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _fields_at(path: tuple[str | int, ...], data: Any) -> list[str]:
    """Keys that the section at ``path`` knows."""
    model: Any = Blueprint
    for i, step in enumerate(path):
        model = _step(model, step, _at(data, path[: i + 1]))
        if model is None:
            return []
    return [f.alias or name for name, f in model.model_fields.items()] if isinstance(model, type) else []


def _step(model: Any, step: str | int, value: Any) -> Any:
    if not isinstance(model, type):
        return _choose(model, value)
    by_alias = {f.alias or name: f for name, f in model.model_fields.items()}
    if step not in by_alias:
        return None
    annotation = by_alias[step].annotation
    models = _models(annotation)
    if str(getattr(annotation, "__origin__", "")) == "<class 'dict'>":
        return models
    return _choose(models, value)


def _choose(models: list[type[BaseModel]], value: Any) -> type[BaseModel] | None:
    """The one model of a union that ``value``'s kind names."""
    if len(models) == 1:
        return models[0]
    kind = value.get("kind") if isinstance(value, dict) else None
    return next((m for m in models if kind in getattr(m.model_fields.get("kind"), "annotation", None).__args__), None)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for a in getattr(annotation, "__args__", ()) for m in _models(a)]


def _choices(word: str, known: list[str]) -> str | None:
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(sorted(known))}" if known else None


def _unique(findings: Any) -> list[Diagnostic]:
    return list(dict.fromkeys(findings))
