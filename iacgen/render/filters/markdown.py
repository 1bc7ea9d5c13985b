"""Markdown: text that shows the characters it was given."""

from __future__ import annotations

import re

from .values import Quoted, UnrepresentableValue, number, text

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# An underscore between letters or digits emphasises nothing, and host_name reads better without a backslash.
_ACTIVE = re.compile(r"[\\`*<>\[\]&~|$]|(?<![^\W_])_|_(?![^\W_])")
_LINE_START = re.compile(r"^(?:[#+=-]|\d+[.)](?=\s|$))")


def cell(value: object) -> Quoted:
    """A table cell or any other stretch of one line. Numbers are printed as they are."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Quoted(number(value))
    line = text(value)
    if _CONTROL.search(line):
        raise UnrepresentableValue(f"{line!r} is not one line of text")
    escaped = _ACTIVE.sub(r"\\\g<0>", line)
    return Quoted(_LINE_START.sub(lambda m: f"{m[0][:-1]}\\{m[0][-1]}", escaped))
