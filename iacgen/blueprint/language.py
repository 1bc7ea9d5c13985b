"""The models as a tree that a path can be followed through: which section it enters, which keys stand there, how layers merge."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .cluster import Blueprint

Path = tuple[str | int, ...]
Merge = Literal["replace", "append"]


@dataclass(frozen=True)
class Spot:
    """Where pydantic's ``loc`` leads: the path as YAML knows it, whether the key itself is meant, and the section last entered."""

    path: Path
    on_key: bool
    section: type[BaseModel] | None


def follow(loc: Sequence[str | int]) -> Spot:
    """``loc`` without what YAML does not know: the tags of unions, the ``[key]`` mark, names of validators."""
    path: list[str | int] = []
    here: Any = Blueprint
    section: type[BaseModel] | None = None
    for i, step in enumerate(loc):
        if step == "[key]" and i == len(loc) - 1:
            return Spot(tuple(path), True, section)
        models = sections(here)
        origin = typing.get_origin(bare(here))
        if len(models) > 1 and origin is not dict:
            section = next((m for m in models if tag(m) == step), None)
            here = section
        elif origin is dict:
            path.append(step)
            here = typing.get_args(bare(here))[1]
        elif origin in (tuple, list) and isinstance(step, int):
            path.append(step)
            here = typing.get_args(bare(here))[0]
        elif models:
            section = models[0]
            path.append(step)
            here = next((f.annotation for name, f in section.model_fields.items() if step == (f.alias or name)), None)
        # anything else is below a scalar, where pydantic names its validators
    return Spot(tuple(path), False, section)


def merge_rule(path: Path) -> Merge:
    """How a list at ``path`` of an upper layer meets the one below: it replaces it unless its field says otherwise."""
    rules = {(field.json_schema_extra or {}).get("merge", "replace") for field in _fields_at(path) if not callable(field.json_schema_extra)}
    return "append" if rules == {"append"} else "replace"


def named(path: Path) -> bool:
    """Is the last step of ``path`` a name that the user gives, as that of a pool, and not a key of the language?"""
    return bool(path) and any(typing.get_origin(bare(annotation)) is dict for annotation in _annotations(path[:-1]))


def example(path: Path) -> Any:
    """What the field at ``path`` shows as its example; of a list or a map of names, one item of it. None without any."""
    shown = next((field.examples[0] for field in _fields_at(path) if field.examples), None)
    if shown is None and path:
        above = next((field.examples[0] for field in _fields_at(path[:-1]) if field.examples), None)
        if isinstance(above, list) and isinstance(path[-1], int):
            return above[0]
        return next(iter(above.values()), None) if isinstance(above, dict) and named(path) else None
    return shown


def pattern(path: Path) -> str | None:
    """The pattern that the text at ``path`` has to match, if any."""
    rules = [rule for field in _fields_at(path) for rule in field.metadata]
    rules += [rule for annotation in _annotations(path) for rule in _metadata(annotation)]
    return next((form for rule in rules if isinstance(form := getattr(rule, "pattern", None), str)), None)


def _metadata(annotation: Any) -> tuple[Any, ...]:
    """What is annotated to ``X``, or to the one ``X`` of ``X | None``."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        some = [a for a in typing.get_args(annotation) if a is not type(None)]
        return _metadata(some[0]) if len(some) == 1 else ()
    return typing.get_args(annotation)[1:] if typing.get_origin(annotation) is typing.Annotated else ()


def required(path: Path, entry: dict[str, Any]) -> list[str]:
    """The keys without which the section at ``path`` is none; of a union, those of the section that its ``kind`` names."""
    chosen = _chosen(path, entry)
    return [field.alias or name for m in chosen for name, field in m.model_fields.items() if field.is_required()] if chosen else ["kind"]


def known(path: Path, entry: dict[str, Any]) -> list[str]:
    """The keys that may stand in the section at ``path``, chosen likewise."""
    chosen = _chosen(path, entry)
    return [key for m in chosen for key in keys(m)] if chosen else ["kind"]


def _chosen(path: Path, entry: dict[str, Any]) -> list[type[BaseModel]]:
    models = [m for annotation in _annotations(path) for m in sections(annotation)]
    return models[:1] if len(models) == 1 else [m for m in models if tag(m) == entry.get("kind")]


def _annotations(path: Path) -> list[Any]:
    found: list[Any] = [Blueprint]
    for step in path:
        found = [inner for annotation in found for inner, _ in _below(annotation, step)]
    return found


def _fields_at(path: Path) -> Iterator[FieldInfo]:
    """The fields that a path may mean; several where a union has a key of that name in more than one section."""
    found: list[tuple[Any, FieldInfo | None]] = [(Blueprint, None)]
    for step in path:
        found = [inner for annotation, _ in found for inner in _below(annotation, step)]
    return (field for _, field in found if field is not None)


def _below(annotation: Any, step: str | int) -> Iterator[tuple[Any, FieldInfo | None]]:
    inner = bare(annotation)
    if typing.get_origin(inner) is dict:
        yield typing.get_args(inner)[1], None
        return
    if typing.get_origin(inner) in (tuple, list) and isinstance(step, int):
        yield typing.get_args(inner)[0], None
        return
    for model in sections(annotation):
        for name, field in model.model_fields.items():
            if step == (field.alias or name):
                yield field.annotation, field


def kinds(path: Path) -> list[str]:
    """The kinds among which the section at ``path`` is chosen."""
    return [name for annotation in _annotations(path) for model in sections(annotation) if (name := tag(model))]


def takes_mapping(path: Path) -> bool:
    """Whether what stands at ``path`` is a section or a map."""
    return any(sections(annotation) or typing.get_origin(bare(annotation)) is dict for annotation in _annotations(path))


def elsewhere(path: Path, key: str) -> str | None:
    """Where a key may stand that the section at ``path`` does not have: below one of its own keys, else in a section of the whole."""
    below = [str(inner) for annotation in _annotations(path) for model in sections(annotation) for inner, field in model.model_fields.items() if any(key in keys(m) for m in sections(field.annotation))]
    if below:
        return " or ".join(repr(inner) for inner in dict.fromkeys(below))
    found = []
    for name, field in Blueprint.model_fields.items():
        inner = bare(field.annotation)
        many = typing.get_origin(inner) is dict
        if any(key in keys(m) for m in sections(typing.get_args(inner)[1] if many else inner)):
            found.append(f"{name}.<name>" if many else name)
    return " or ".join(found) if 0 < len(found) < 3 and path[:1] != (found[0].partition(".")[0],) else None


def keys(section: type[BaseModel]) -> list[str]:
    """The keys that may stand in a section, as the user writes them."""
    return [field.alias or name for name, field in section.model_fields.items()]


def tag(section: type[BaseModel]) -> str | None:
    """The ``kind`` that chooses this section out of a union."""
    field = section.model_fields.get("kind")
    values = typing.get_args(field.annotation) if field else ()
    return values[0] if len(values) == 1 else None


def bare(annotation: Any) -> Any:
    """``X`` of ``X | None`` and of ``Annotated[X, ...]``."""
    if typing.get_origin(annotation) is typing.Annotated:
        return bare(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        some = [a for a in typing.get_args(annotation) if a is not type(None)]
        return bare(some[0]) if len(some) == 1 else annotation
    return annotation


def sections(annotation: Any) -> list[type[BaseModel]]:
    """The sections that may stand where ``annotation`` is wanted; none for maps, lists and scalars."""
    inner = bare(annotation)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return [inner]
    if typing.get_origin(inner) in (typing.Union, types.UnionType):
        return [m for a in typing.get_args(inner) for m in sections(a)]
    return []
