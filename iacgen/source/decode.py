"""Bytes of a file → text that is safe to read and to show, or why not.

What is refused here is refused before anything parses it: a file too large, another encoding than UTF-8, and characters that
do not show: control characters, marks that turn the direction of writing (with them a line shows other words than it holds,
CVE-2021-42574) and marks of no width.
"""

from __future__ import annotations

import re

from ..diagnostics import Diagnostic, Span, lines

MAX_BYTES = 256 * 1024
MOST = 20  # hidden characters that are told one by one
_BOMS = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
# Unicode 16: categories Cc without tab and line ends, Cf, Cs, Zl and Zp, and the two that are no characters.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def decode(source: bytes | str, name: str, room: int = 1) -> tuple[str, list[Diagnostic]]:
    """The text, and the findings that forbid to read it. The text is there even then, so that a printer can show the place."""
    if len(source) > room * MAX_BYTES:
        return "", [_at("IAC001", "blueprint-too-large", f"the file is larger than {room * MAX_BYTES // 1024} KiB", Span(1, 1, 2, name))]
    if isinstance(source, str):
        return source, hidden(source, name)
    for mark, encoding in _BOMS.items():
        if source.startswith(mark):
            return "", [_at("IAC014", "not-utf-8", f"the file is {encoding}; save it as UTF-8", Span(1, 1, 2, name))]
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = source[: error.start].decode("utf-8-sig")
        message = f"byte {error.start} (0x{source[error.start]:02x}) is not UTF-8 text"
        return source.decode("utf-8-sig", "replace"), [_at("IAC014", "not-utf-8", message, place(before, len(before), name))]
    return text, hidden(text, name)


def hidden(text: str, name: str) -> list[Diagnostic]:
    """A finding for each character that does not show."""
    found = []
    for match in HIDDEN.finditer(text):
        found.append(_at("IAC015", "hidden-character", f"here stands {says(match[0])}", place(text, match.start(), name)))
        if len(found) == MOST:
            break
    return found


def says(character: str) -> str:
    """A hidden character, and what it does."""
    number = f"U+{ord(character):04X}"
    if _TURNS.match(character):
        return f"{number}, which turns the direction of writing, so that a line shows other words than it holds"
    return f"the control character {number}" if character < "\xa0" else f"{number}, which does not show"


def place(text: str, index: int, name: str) -> Span:
    """The span of the one character at ``index``."""
    before = lines(text[:index])
    column = len(before[-1]) + 1
    return Span(len(before), column, column + 1, name)


def _at(id: str, slug: str, message: str, span: Span) -> Diagnostic:
    return Diagnostic(id, slug, "error", message, at=span)
