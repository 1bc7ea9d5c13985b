"""Slurm's hostlists: ``gpu[0001-0032,0040]``, folded and expanded as ``scontrol`` of 22.05 and later does it.

Only the last number of a name is folded, and never one with text behind it: Slurm before 23.11 refuses ``gpu[1-2]-ib``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, product
from math import prod

_TOKEN = re.compile(r"((?:[^\[\],\s]*\[[^\[\]\s]*\])*)([^\[\],\s]*)(?:,|\Z)")
_BRACKET = re.compile(r"([^\[\]]*)\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,15})(?:-([0-9]{1,15}))?", re.ASCII)
_DIGITS = re.compile(r"[0-9]*\Z")
_NOT_A_NAME = re.compile(r"[\s,\[\]]|\A\Z")
_LONGEST_NUMBER = 15  # digits; Slurm counts in 64 bits
_LARGEST_RANGE = 65536  # hosts; MAX_RANGE of Slurm's hostlist.c
_LARGEST_LIST = 2**20  # our own bound against a list that multiplies its brackets without end


class InvalidHostlist(ValueError):
    """Text that Slurm 22.05 does not read as a hostlist, or no name of a host."""


def fold(names: Iterable[str], *, keep_order: bool = False) -> str:
    """The hostlist of ``names``: sorted by prefix, zero-padded width and number, without duplicates.

    With ``keep_order`` it keeps the order given and the duplicates, as a list of ranks needs. Numbers of different padding never
    share a range: 9 and 10 do, 09 and 10 do, 9 and 010 do not.
    """
    parts = [_split(name) for name in names]
    out: list[str] = []
    for prefix, digits in _runs(parts) if keep_order else _sorted(parts):
        ranges = list(_ranges(digits))
        single = len(ranges) == 1 and "-" not in ranges[0]
        out.append(prefix + (ranges[0] if single else f"[{','.join(ranges)}]"))
    return ",".join(out)


def expand(hostlist: str) -> list[str]:
    """The names of ``hostlist`` in Slurm's own order, duplicates kept. Raises InvalidHostlist."""
    names: list[str] = []
    position = 0
    while position < len(hostlist):
        token = _TOKEN.match(hostlist, position)
        if token is None or (token[1] and token[2]):
            raise InvalidHostlist(f"{hostlist!r} is no hostlist that Slurm 22.05 reads")
        names += _names(_BRACKET.findall(token[1])) if token[1] else filter(None, [token[2]])
        position = token.end()
    return names


def _split(name: str) -> tuple[str, str]:
    """Prefix and last number; the number is empty where the name does not end in one."""
    if _NOT_A_NAME.search(name):
        raise InvalidHostlist(f"{name!r} is no name of a host")
    start = _DIGITS.search(name).start()
    return (name[:start], name[start:]) if len(name) - start <= _LONGEST_NUMBER else (name, "")


def _runs(parts: list[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Neighbours with one prefix, in the order given. A name without a number stands alone."""
    for (prefix, numbered), run in groupby(parts, key=lambda part: (part[0], part[1] != "")):
        digits = [number for _, number in run]
        yield from [(prefix, digits)] if numbered else ((prefix, [""]) for _ in digits)


def _sorted(parts: list[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """One run a prefix, its numbers by padded width and value."""
    by_prefix: dict[str, set[str]] = {}
    for prefix, digits in parts:
        by_prefix.setdefault(prefix, set()).add(digits)
    for prefix in sorted(by_prefix):
        digits = by_prefix[prefix]
        if "" in digits:
            yield prefix, [""]
            digits = digits - {""}
        padded = sorted({len(number) for number in digits if number[0] == "0" and len(number) > 1}, reverse=True)
        # A number without padding, such as 10, continues the widest padded ones that are no longer than itself: 09, 10.
        width = {length: next((w for w in padded if w <= length), 0) for length in {len(number) for number in digits}}
        if digits:
            yield prefix, sorted(digits, key=lambda number: (width[len(number)], int(number)))


def _ranges(digits: list[str]) -> Iterator[str]:
    """Consecutive numbers as ``low-high``; a range's width is that of its low end."""
    low = high = digits[0]
    for number in digits[1:]:
        if number and number == str(int(high) + 1).zfill(len(low)) and int(number) - int(low) < _LARGEST_RANGE:
            high = number
            continue
        yield low if low == high else f"{low}-{high}"
        low = high = number
    yield low if low == high else f"{low}-{high}"


def _names(brackets: list[tuple[str, str]]) -> list[str]:
    """All names of one bracketed expression.

    Measured order: the last bracket runs fastest, then the first, then the second and so on (scontrol 22.05.8, up to six brackets).
    """
    values = [_numbers(text) for _, text in brackets]
    if prod(len(numbers) for numbers in values) > _LARGEST_LIST:
        raise InvalidHostlist(f"more than {_LARGEST_LIST} hosts in one expression")
    *outer, last = [[prefix + number for number in numbers] for (prefix, _), numbers in zip(brackets, values, strict=True)]
    return ["".join(reversed(front)) + end for front in product(*reversed(outer)) for end in last]


def _numbers(text: str) -> list[str]:
    """The numbers of one bracket, as text with its zero padding."""
    out: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise InvalidHostlist(f"invalid range {part!r}")
        low, high = match[1], match[2] or match[1]
        count = int(high) - int(low) + 1
        if not 0 < count <= _LARGEST_RANGE:
            raise InvalidHostlist(f"invalid range {part!r}")
        out += [str(number).zfill(len(low)) for number in range(int(low), int(high) + 1)]
    return out
