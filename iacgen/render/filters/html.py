"""HTML: text that stands in an element or in a quoted attribute."""

from __future__ import annotations

import re

from .values import Quoted, UnrepresentableValue, number, text

# What HTML's own parser drops, replaces or calls an error wherever it stands: control characters, lone surrogates, non-characters.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\r": "&#13;"})


def html(value: object) -> Quoted:
    """Numbers as they are; of text, what a reader would take for markup as references."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quoted(number(value))
    word = text(value)
    if _IMPOSSIBLE.search(word):
        raise UnrepresentableValue(f"{word!r} holds what no HTML page may hold")
    return Quoted(word.translate(_ESCAPES))
