"""What a policy is made of: when it speaks, how bad the change is, why, what to do, and an edit that shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import units
from ..blueprint import Blueprint
from ..blueprint.storage import Lustre
from .model import Change, Effect

_DIMENSIONS = ("bytes", "bytes_per_s", "watts", "seconds")


@dataclass(frozen=True)
class Seen:
    """A change and the two blueprints that it lies between."""

    change: Change
    old: Blueprint
    new: Blueprint


@dataclass(frozen=True)
class When:
    """A condition, with the words that the page has for it."""

    words: str
    holds: Callable[[Seen], bool]

    def __and__(self, other: When) -> When:
        return When(f"{self.words}, {other.words}", lambda seen: self.holds(seen) and other.holds(seen))


@dataclass(frozen=True)
class Example:
    """An edit: a base by its name, and what is assigned over it before and after, in the words of ``--set``."""

    base: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """``reason`` and ``action`` may name the parts of the change: {name} of the section, {entry} for the last word of its path, {old}, {new}."""

    when: When
    effect: Effect
    reason: str
    action: str
    example: Example


Table = dict[str, tuple[Rule, ...]]
"""Rules by key, in the order in which they are asked; the last one always holds."""


def edit(base: str, new: str, *, old: str = "", also: tuple[str, ...] = ()) -> Example:
    """One assignment; ``old`` stands in the base before it, ``also`` before and after."""
    return Example(base, (*also, *((old,) if old else ())), (*also, *((new,) if new else ())))


def size(value: Any) -> tuple[float, ...]:
    """What is compared: a number, a version part by part, or a quantity as it is written (``10PB``) in base units."""
    if isinstance(value, (int, float)):
        return (float(value),)
    if re.fullmatch(r"[0-9]+(\.[0-9]+)*", str(value)):
        return tuple(float(part) for part in value.split("."))
    for dimension in _DIMENSIONS:
        try:
            return (float(units.parse(value, dimension)),)
        except ValueError:
            continue
    return ()


def _pool_site(blueprint: Blueprint, change: Change) -> str | None:
    """Kind of the site at which the entry stands that the change lies in."""
    held: Any = getattr(blueprint, str(change.path[0]), None)
    entry = held.get(change.path[1]) if isinstance(held, dict) and len(change.path) > 1 else None
    site = entry if change.path[0] == "sites" else blueprint.sites.get(getattr(entry, "site", ""))
    return getattr(site, "kind", None)


def _renamed(seen: Seen) -> bool:
    was, now = (getattr(b, str(seen.change.path[0])) for b in (seen.old, seen.new))
    name = seen.change.path[-1]
    gone, come = was.get(name), now.get(name)
    return any(now[n] == gone for n in now.keys() - was.keys()) if come is None else any(was[n] == come for n in was.keys() - now.keys())


def _stores(blueprint: Blueprint, pool: str) -> bool:
    return any(isinstance(store, Lustre) and pool in (store.servers, store.metadata) for store in blueprint.storage.values())


def _shares_servers(seen: Seen) -> bool:
    """Whether a file system that comes is put on servers that hold one already."""
    return any(_stores(seen.old, str((seen.change.new or {}).get(key))) for key in ("servers", "metadata"))


def _controls(seen: Seen) -> bool:
    return any(b.scheduler is not None and b.scheduler.controllers == seen.change.path[1] for b in (seen.old, seen.new))


def _planned(seen: Seen) -> bool:
    pool = seen.old.nodes.get(str(seen.change.path[1]))
    return pool is not None and (pool.grow_to or 0) >= size(seen.change.new)[0]


def _no_file_system(seen: Seen) -> bool:
    return not any(store.site == seen.change.path[1] and store.kind == "fsx-lustre" for store in seen.old.storage.values())


def kind_is(word: str, then: str) -> When:
    """On an entry of a map: what it was is of this kind."""
    return When(then, lambda s: isinstance(s.change.old, dict) and s.change.old.get("kind") == word)


def _slurm_restarts(seen: Seen) -> bool:
    return seen.new.scheduler is not None and seen.new.scheduler.version == "22.05"


always = When("any change", lambda s: True)
comes = When("added", lambda s: s.change.old is None)
goes = When("removed", lambda s: s.change.new is None)
renamed = When("renamed: one goes, an equal one comes", _renamed)
grows = When("grows", lambda s: s.change.old is not None and s.change.new is not None and size(s.change.new) > size(s.change.old))
shrinks = When("shrinks", lambda s: s.change.old is not None and s.change.new is not None and size(s.change.new) < size(s.change.old))
on_aws = When("on AWS", lambda s: "aws" in (_pool_site(s.old, s.change), _pool_site(s.new, s.change)))
reordered = When("same items in another order", lambda s: sorted(s.change.old or (), key=str) == sorted(s.change.new or (), key=str))
appended = When("appended at the end", lambda s: s.change.old is not None and (s.change.new or [])[: len(s.change.old)] == s.change.old)
other_kind = When("of another kind", lambda s: s.change.old is not None and s.change.new is not None and s.change.old.get("kind") != s.change.new.get("kind"))
old_slurm = When("Slurm before 23.11", _slurm_restarts)
any_cloud_store = When("with a store on AWS", lambda s: any(store.kind != "lustre" for store in s.old.storage.values()))
holds_data = When("its disks hold a Lustre", lambda s: _stores(s.old, str(s.change.path[1])))
shares_servers = When("on servers that hold one already", _shares_servers)
controls = When("it runs slurmctld", _controls)
planned = When("within grow_to", _planned)
no_file_system = When("without a file system there", _no_file_system)
