"""CSV after RFC 4180, but with the line ends of a text file."""

from __future__ import annotations

import csv as _csv
import io
import re
from collections.abc import Iterable, Sequence

from .values import Quoted, UnrepresentableValue, number, text

# A spreadsheet takes a cell with one of these at its start for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t")
# NUL ends the file for some readers; a carriage return alone is a line end for some and text for others.
_UNFIT = re.compile(r"[\0\r]")
# What is neither, as nearly all cells are: looked at once, since a list of cables has millions.
_HARMLESS = re.compile(r"(?![=+@-])[ -~]*")


def csv(row: Sequence[object]) -> Quoted:
    """One record without its line end."""
    return Quoted(csv_text([row]).removesuffix("\n"))


def csv_text(rows: Iterable[Sequence[object]]) -> Quoted:
    """A whole table; a missing value (None) is an empty field.

    Text that a spreadsheet would run, a NUL and a carriage return are refused: no quoting keeps them as they are.
    """
    buffer = io.StringIO()
    _csv.writer(buffer, lineterminator="\n").writerows([_field(value) for value in row] for row in rows)
    return Quoted(buffer.getvalue())


def _field(value: object) -> object:
    if type(value) is str and _HARMLESS.fullmatch(value):
        return value
    if type(value) is int:
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number(value)
    word = text(value)
    if word.startswith(_FORMULA) or _UNFIT.search(word):
        raise UnrepresentableValue(f"{word!r} does not stay what it is in a spreadsheet")
    return word
