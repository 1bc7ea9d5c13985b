"""Data → Blueprint, with every mistake as one Diagnostic at the place where the user made it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from ..diagnostics import Diagnostic
from ..diagnostics.bounded import bounded
from ..diagnostics.nearest import closest
from .cluster import Blueprint
from .language import Path, Spot, elsewhere, follow, keys, kinds, takes_mapping
from .mistakes import Mistake, at, said, short

MOST_HOSTS = 131_072  # twice what one slurmctld manages (MAX_SLURM_NODES is 65,536); every host has a name and addresses in memory
MOST_ENDS = 4 * MOST_HOSTS  # a fabric for each purpose, and one to spare
_READ = 1_000  # errors of pydantic that are looked at


def parse(data: Any, written: Callable[[Path], str] | None = None, unread: frozenset[Path] = frozenset()) -> tuple[Blueprint | None, list[Diagnostic]]:
    """The typed blueprint with its maps in the order of their names, or None and all schema errors (ids IAC1xx) in one run.

    From here on the order of a map in the file is gone: it can matter to nobody.
    ``written`` gives the text of a scalar as it stands in the file, for hints; at the paths in ``unread`` nothing could be read and
    nothing more is said.
    """
    if not isinstance(data, dict):
        return None, [not_a_mapping()]
    try:
        blueprint = Blueprint.model_validate(data)
    except ValidationError as error:
        told = error.errors(include_url=False, include_input=False)[:_READ]
        mistakes = [Mistake(e["type"], e["msg"], e.get("ctx", {}), follow(e["loc"]), data, written) for e in told]
        mistakes = [m for m in mistakes if not any(m.spot.path[:n] in unread for n in range(len(m.spot.path) + 1))]
        return None, bounded(_once(_findings(mistakes, data, unread)))
    planned = {name: max(pool.count, pool.grow_to or 0) for name, pool in blueprint.nodes.items()}
    hosts, ends = sum(planned.values()), sum(planned.get(pool, 0) for fabric in blueprint.fabrics.values() for pool in fabric.connects)
    for count, most, section, words in ((hosts, MOST_HOSTS, "nodes", "nodes; a cluster has"), (ends, MOST_ENDS, "fabrics", "connections of nodes to fabrics; a cluster has")):
        if count > most:
            return None, [Diagnostic("IAC110", "too-many-nodes", "error", f"{count:,} {words} at most {most:,}", (section,), on_key=True)]
    return (None if unread else _by_name(blueprint)), []


def _by_name(value: Any) -> Any:
    """A section with its maps, at any depth, in the order of their names."""
    if isinstance(value, dict):
        return {name: _by_name(value[name]) for name in sorted(value)}
    if hasattr(value, "model_copy"):
        return value.model_copy(update={name: _by_name(inner) for name, inner in value})
    return value


def not_a_mapping() -> Diagnostic:
    """What is said of a file that is a list, a text, a number or null."""
    return Diagnostic("IAC101", "not-a-mapping", "error", "a blueprint is a mapping that begins with 'kind: Cluster'")


def _once(findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    seen = set()
    for finding in findings:
        if finding not in seen:
            seen.add(finding)
            yield finding


def _findings(mistakes: list[Mistake], data: Any, unread: frozenset[Path]) -> Iterator[Diagnostic]:
    """One finding a mistake: what only follows from another one is left out."""
    wrong_kind = {m.spot.path[:-1] for m in mistakes if m.type == "literal_error" and m.spot.path[-1] == "kind"}
    wrong_inside = {m.spot.path[:-1] for m in mistakes} | {path[:-1] for path in unread if path}  # what is wrong is not counted
    meant = _meant(mistakes, data)
    found = {(section, key) for (section, _), key in meant.items()}
    for m in mistakes:
        section, last = m.spot.path[:-1], m.spot.path[-1] if m.spot.path else ""
        if section in wrong_kind and m.type in ("missing", "extra_forbidden"):
            continue
        if m.type == "missing" and (section, last) in found:
            continue
        if m.type == "too_short" and m.spot.path in wrong_inside:
            continue
        if m.type.startswith("union_tag") and (*m.spot.path, "kind") in unread:
            continue
        if m.type == "extra_forbidden":
            yield _unknown_key(m.spot, meant.get((section, str(last))))
        elif m.type == "union_tag_not_found":
            yield _no_kind(m.spot, data)
        else:
            yield said(m)


def _meant(mistakes: list[Mistake], data: Any) -> dict[tuple[Path, str], str]:
    """Section and unknown key → the key that was meant: one that is spelt alike, or the only one that is missing there."""
    out: dict[tuple[Path, str], str] = {}
    strange: dict[Path, list[str]] = {}
    for m in mistakes:
        if m.type == "extra_forbidden" and m.spot.section is not None:
            section, key, known = m.spot.path[:-1], str(m.spot.path[-1]), keys(m.spot.section)
            if near := closest(key, [k for k in known if k not in at(data, section)]) or closest(key, known):
                out[section, key] = near
            elif not elsewhere(section, key):
                strange.setdefault(section, []).append(key)
    told = {(section, key) for (section, _), key in out.items()}
    for section, unknown in strange.items():
        missing = [m.spot.path[-1] for m in mistakes if m.type == "missing" and m.spot.path[:-1] == section and (section, m.spot.path[-1]) not in told]
        if len(unknown) == len(missing) == 1 and isinstance(at(data, (*section, unknown[0])), dict) == takes_mapping((*section, missing[0])):
            out[section, unknown[0]] = str(missing[0])
    return out


def _unknown_key(spot: Spot, meant: str | None) -> Diagnostic:
    key, known = str(spot.path[-1]), sorted(keys(spot.section)) if spot.section else []
    help = f"did you mean {meant!r}?" if meant else f"known: {', '.join(known)}" if known else None
    if colon := next((k for k in known if re.match(rf"{re.escape(k)}:\S", key)), None):
        help = f"write '{colon}: ' with a space behind the colon"
    elif not meant and (others := elsewhere(spot.path[:-1], key)):
        help = f"{short(key)} stands in {others}; {help}"
    return Diagnostic("IAC102", "unknown-key", "error", f"unknown key {short(key)}", spot.path, help=help, on_key=True)


def _no_kind(spot: Spot, data: Any) -> Diagnostic:
    """A section of a union without ``kind``: perhaps it is there and misspelt."""
    here = at(data, spot.path)
    for key in here if isinstance(here, dict) else ():
        if key != "kind" and (key == "type" or closest(key, ["kind"])):
            return Diagnostic("IAC102", "unknown-key", "error", f"unknown key {short(key)}", (*spot.path, key), help="did you mean 'kind'?", on_key=True)
    return Diagnostic("IAC103", "missing-key", "error", "'kind' is missing", (*spot.path, "kind"), on_key=True, help=f"one of {', '.join(kinds(spot.path))}")
