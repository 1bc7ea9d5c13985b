"""A blueprint and what is laid over it: further files, then single values. Later ones win."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from .. import source
from ..diagnostics import Diagnostic
from ..diagnostics.bounded import bounded
from ..diagnostics.nearest import closest
from ..source import Document
from .language import merge_rule, named, required
from .mistakes import at
from .parse import not_a_mapping

File = tuple[bytes | str, str]
_COMPARISONS = 20_000  # of misspelt names with those that are there


def assemble(base: File, over: Iterable[File] = (), sets: Iterable[str] = (), room: int = 1) -> tuple[Document, list[Diagnostic]]:
    """The effective document of ``base`` (text and name) under the files ``over`` and the assignments ``sets``.

    ``data`` is None as soon as one of them cannot be read; the findings are those of all. ``room`` is that
    of ``source.read`` for the base.
    """
    document, findings = source.read(*base, room)
    if document.data is None and not findings:
        findings = [not_a_mapping()]
    layers = [(source.read(*file), True) for file in over] + [(source.assignment(text), False) for text in sets]
    unreadable = document.data is None
    for (layer, found), is_file in layers:
        findings += found
        if layer.data is None and found:
            unreadable = True
        elif not isinstance(layer.data, dict):
            span = layer.span(())
            findings.append(Diagnostic("IAC612", "overlay-not-a-mapping", "error", "what is laid over a blueprint is a mapping with some of its keys", at=span))
            layer = replace(layer, data=None)
        elif not is_file and (lost := _lost(document, layer)):
            findings.append(lost)
            layer = replace(layer, data=None)
        elif is_file:
            stray = dict(_strays(document, layer))
            findings += bounded(_nothing(layer, path, f"did you mean {near!r}?") for path, near in stray.items())
            layer = replace(layer, data=_without(layer.data, set(stray)))
        document = source.lay(document, layer, merge_rule) if layer.data is not None and document.data is not None else replace(document, others={**document.others, layer.name: layer.text})
    return (replace(document, data=None) if unreadable else document), findings


def _nothing(layer: Document, path: source.Path, help: str) -> Diagnostic:
    words = f"there is no {path[-1]!r} in {'.'.join(map(str, path[:-1]))}"
    return Diagnostic("IAC613", "assignment-to-nothing", "error", words, path, help=help, at=layer.keys[path])


def _strays(document: Document, layer: Document) -> Iterator[tuple[source.Path, str]]:
    """Names that a file makes, too little for a section of their own, and much like a name that is there: misspelt ones, with that name.

    Each is compared with all that are there, so that of very many only the first are.
    """
    compared = 0
    for path in _fragments(document, layer):
        names = list(at(document.data, path[:-1]))
        compared += len(names)
        if compared > _COMPARISONS:
            return
        if near := closest(str(path[-1]), names):
            yield path, near


def _fragments(document: Document, layer: Document, path: source.Path = ()) -> Iterator[source.Path]:
    """Names that a file makes without a key that such a section must have."""
    below, above = at(document.data, path), at(layer.data, path)
    for step, value in above.items() if isinstance(above, dict) and isinstance(below, dict) else ():
        here = (*path, step)
        if not named(here):
            yield from _fragments(document, layer, here) if len(here) < 3 else ()
        elif step not in below and isinstance(value, dict) and set(required(here, value)) - set(value):
            yield here


def _without(data: Any, paths: set[source.Path], path: source.Path = ()) -> Any:
    if not isinstance(data, dict) or not paths:
        return data
    return {step: _without(value, paths, (*path, step)) for step, value in data.items() if (*path, step) not in paths}


def _lost(document: Document, layer: Document) -> Diagnostic | None:
    """An assignment below a name that no file has: a single value never makes a pool, a fabric or a job."""
    steps = layer.text.partition("=")[0].split(".")
    here = document.data
    for i, step in enumerate(steps[:-1]):
        path = tuple(steps[: i + 1])
        known = here if isinstance(here, dict) else {}
        if named(path) and step not in known:
            near = closest(step, list(known))
            help = f"did you mean {near!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"
            return _nothing(layer, path, help)
        here = known.get(step)
    return None
