"""``nodes.gpu.count=64`` → a document that can be laid over another; its positions lie in this very text."""

from __future__ import annotations

import re
from dataclasses import replace

from ..diagnostics import Diagnostic, Span
from .document import Document
from .loader import read

_SHAPE = re.compile(r"([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)=(.*)", re.DOTALL)
_EXAMPLE = "--set nodes.gpu.count=64"


def assignment(text: str) -> tuple[Document, list[Diagnostic]]:
    """The document that ``--set text`` means, and what is wrong with it (ids IAC61x and those of the loader)."""
    name = f"--set {text}"
    match = _SHAPE.fullmatch(text)
    if not match:
        return Document(name, text), [_finding("IAC610", "malformed-assignment", "a path, '=' and a value are wanted", Span(1, 1, max(2, len(text) + 1), name), f"such as {_EXAMPLE}")]
    steps, value = match[1].split("."), match[2]
    if not value.strip():
        end = Span(1, len(match[1]) + 1, len(match[1]) + 2, name)
        return Document(name, text), [_finding("IAC610", "malformed-assignment", "no value stands behind '='", end, "write null to take the key away, '' for empty text")]
    at = 1
    spans = []
    for step in steps:
        spans.append(Span(1, at, at + len(step), name))
        at += len(step) + 1
    index = next((i for i, step in enumerate(steps) if step.isdigit()), None)
    if index is not None:
        whole = f"--set {'.'.join(steps[:index])}=[one, other]"
        return Document(name, text), [_finding("IAC611", "assignment-into-list", "a list is set as a whole", spans[index], f"such as {whole}")]
    inner, findings = read(" " * (at - 1) + value, name)
    prefix = tuple(steps)
    data = inner.data
    for step in reversed(steps):
        data = {step: data}
    document = Document(
        name,
        text,
        None if inner.data is None and findings else data,
        {prefix[:i]: spans[max(0, i - 1)] for i in range(len(steps))} | {(*prefix, *path): span for path, span in inner.values.items()},
        {prefix[: i + 1]: span for i, span in enumerate(spans)} | {(*prefix, *path): span for path, span in inner.keys.items()},
        routes={(*prefix, *path): (*prefix, *route) for path, route in inner.routes.items()},
        unread=frozenset((*prefix, *path) for path in inner.unread),
    )
    return document, [replace(f, path=(*prefix, *f.path)) for f in findings]


def _finding(id: str, slug: str, message: str, span: Span, help: str) -> Diagnostic:
    return Diagnostic(id, slug, "error", message, help=help, at=span)
