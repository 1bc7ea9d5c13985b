"""What differs between two blueprints, by the keys that a user writes; order, comments and written-out defaults are no difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ..blueprint import Blueprint, resolve
from ..blueprint.base import Section
from ..blueprint.fabrics import GroupSize, Qos, Quoted
from ..blueprint.nodes import OnDemand
from ..blueprint.sites import SecurityGroup
from ..blueprint.training import Offload
from ..blueprint.assume import Assume
from .model import Change, Path

LEFT_OUT: Mapping[tuple[str, str], Section] = {
    ("NodePool", "capacity"): OnDemand(),
    ("Fabric", "qos"): Qos(),
    ("Fabric", "group"): GroupSize(),
    ("Fabric", "quoted"): Quoted(),
    ("AwsSite", "security_group"): SecurityGroup(),
    ("Training", "offload"): Offload(),
    ("Training", "assume"): Assume(),
}
"""Sections that mean the same written out with their defaults as left out."""


def changes(old: Blueprint, new: Blueprint) -> tuple[Change, ...]:
    """Every difference, in the order of the language's keys and of the names in maps.

    An entry of a map that comes, goes or is of another kind is one change, and so is a section that comes or goes; a list is compared as
    a whole. Nothing is said of the order of maps, which no part of a blueprint keeps.
    """
    return tuple(_section((), old, new, resolve(old), resolve(new)))


def _section(path: Path, old: BaseModel, new: BaseModel, was: Any, now: Any) -> Iterator[Change]:
    for name, field in type(old).model_fields.items():
        key = field.alias or name
        yield from _field(type(old).__name__, key, (*path, key), getattr(old, name), getattr(new, name), was.get(key), now.get(key))


def _field(section: str, key: str, path: Path, old: Any, new: Any, was: Any, now: Any) -> Iterator[Change]:
    if old == new:
        return
    if old is None and (section, key) in LEFT_OUT:
        old, was = _written_out(section, key)
    if new is None and (section, key) in LEFT_OUT:
        new, now = _written_out(section, key)
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from _field(section, key, (*path, name), old.get(name), new.get(name), was.get(name), now.get(name))
    elif isinstance(old, BaseModel) and type(old) is type(new):
        yield from _section(path, old, new, was, now)
    else:
        yield Change(path, section, key, was, now)


def _written_out(section: str, key: str) -> tuple[Section, Any]:
    left_out = LEFT_OUT[section, key]
    return left_out, left_out.model_dump(mode="json", by_alias=True, exclude_none=True)
