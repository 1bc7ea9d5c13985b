"""XML, and SVG with it: text that stands in an element or in an attribute."""

from __future__ import annotations

import re

from .values import Quoted, UnrepresentableValue, number, text

# XML 1.0, production 2: all else is no character of a document, not even as a reference.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def xml(value: object) -> Quoted:
    """Numbers as they are; of text, what a reader would take for markup or fold into a space as references."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quoted(number(value))
    word = text(value)
    if _IMPOSSIBLE.search(word):
        raise UnrepresentableValue(f"{word!r} holds what is no character of XML")
    return Quoted(word.translate(str.maketrans(_ESCAPES)))
