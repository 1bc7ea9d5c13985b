"""A blueprint and what is laid over it: further files, then single values. Later ones win."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .. import source
from ..diagnostics import Diagnostic
from ..source import Document
from .language import merge_rule, named
from .parse import nearest, not_a_mapping

File = tuple[bytes | str, str]


def assemble(base: File, over: Iterable[File] = (), sets: Iterable[str] = ()) -> tuple[Document, list[Diagnostic]]:
    """The effective document of ``base`` (text and name) under the files ``over`` and the assignments ``sets``.

    ``data`` is None as soon as one of them cannot be read; the findings are those of all.
    """
    document, findings = source.read(*base)
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
        document = source.lay(document, layer, merge_rule) if layer.data is not None and document.data is not None else replace(document, others={**document.others, layer.name: layer.text})
    return (replace(document, data=None) if unreadable else document), findings


def _lost(document: Document, layer: Document) -> Diagnostic | None:
    """An assignment below a name that no file has: a single value never makes a pool, a fabric or a job."""
    steps = layer.text.partition("=")[0].split(".")
    here = document.data
    for i, step in enumerate(steps[:-1]):
        path = tuple(steps[: i + 1])
        known = here if isinstance(here, dict) else {}
        if named(path) and step not in known:
            near = nearest(step, list(known))
            help = f"did you mean {near!r}?" if near else f"known: {', '.join(sorted(known)) or 'none'}"
            return Diagnostic("IAC613", "assignment-to-nothing", "error", f"there is no {step!r} in {'.'.join(path[:-1])}", path, help=help, at=layer.keys[path])
        here = known.get(step)
    return None
