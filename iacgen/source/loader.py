"""Read YAML once: bytes → text → nodes → plain data with the place of every part.

A blueprint may come from a stranger, so what is too large, too deep or does not show is refused before it is parsed; then the safe
tag set only, no anchors that grow, no duplicate keys, a bounded number of values.
"""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..diagnostics.bounded import bounded
from .compose import MAX_VALUES, Refused, compose
from .decode import decode, place
from .depth import MAX_DEPTH, too_deep
from .document import Document
from .walk import Walk


def read(source: bytes | str, name: str, room: int = 1) -> tuple[Document, list[Diagnostic]]:
    """The file as a Document, and what is wrong with it as YAML (ids IAC0xx).

    ``data`` is None when nothing can be said about the rest; otherwise it holds all that could be read, with None at the paths of
    the findings (``Document.unread``). ``room`` is how many times the size and the values of a blueprint are taken: what iacgen
    wrote itself, with every default, is larger than what a person writes.
    """
    text, findings = decode(source, name, room)
    if not findings and (index := too_deep(text)) is not None:
        words = f"values are nested more than {MAX_DEPTH} deep"
        findings = [Diagnostic("IAC013", "nested-too-deeply", "error", words, at=place(text, index, name))]
    if findings:
        return Document(name, text), findings
    walk = Walk(name, text, room * MAX_VALUES)
    try:
        data = walk.build(compose(text, room * MAX_VALUES), (), ())
    except Refused as refused:
        span = walk.within(refused.line, refused.column, refused.column + refused.length)
        return Document(name, text), [Diagnostic(refused.id, refused.slug, "error", refused.words, help=refused.help, at=span)]
    unread = frozenset(f.path for f in walk.findings)
    document = Document(name, text, data, walk.values, walk.keys, routes=walk.routes, unread=unread)
    return document, bounded(list({(f.id, f.at): f for f in reversed(walk.findings)}.values())[::-1])  # an alias repeats what it stands for
