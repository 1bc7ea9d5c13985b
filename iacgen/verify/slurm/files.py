"""Slurm's own file formats, read back: logical lines of ``key=value`` pairs, and hostlists.

Written from the manual and from what the daemons did, on purpose apart from the code that renders the files: a mistake there must
not be read back as right here.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_RANGE = 65536  # hosts of one bracket: MAX_SLURM_NODES of the source, "Too many hosts in range" beyond

_RANGE = re.compile(r"(\d+)(?:-(\d+))?", re.ASCII)
_PIECE = re.compile(r"[^\[\]]+|\[[^\[\]]*\]")


@dataclass(frozen=True)
class Line:
    """One logical line: its number in the file (from 1) and its pairs in order, keys as written."""

    number: int
    pairs: tuple[tuple[str, str], ...]

    def get(self, key: str, default: str = "") -> str:
        """Value of ``key``, whatever its case; ``default`` when absent."""
        return next((value for name, value in self.pairs if name.lower() == key.lower()), default)

    @property
    def kind(self) -> str:
        """The first key, in lower case: ``nodename``, ``switchname``, ``selecttype``."""
        return self.pairs[0][0].lower()


def lines(text: str) -> Iterator[Line]:
    """Logical lines of a Slurm file: comments cut at ``#``, a backslash at the end joins, blank lines skipped.

    Raises ValueError, with the line number, on a word without ``=``: a space after a comma of a list ends up here, as it does in
    Slurm's own parser.
    """
    pending, first = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        first = first or number
        pending += raw.split("#", 1)[0].rstrip()
        if pending.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        words, start, pending, first = pending.split(), first, "", 0
        if words:
            yield Line(start, tuple(_pairs(_with_quotes_joined(words), start)))


def _with_quotes_joined(words: list[str]) -> Iterator[str]:
    open_words: list[str] = []
    for word in words:
        open_words.append(word)
        if sum(w.count('"') for w in open_words) % 2 == 0:
            yield " ".join(open_words)
            open_words = []
    if open_words:
        yield " ".join(open_words)


def _pairs(words: Iterator[str], number: int) -> Iterator[tuple[str, str]]:
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ValueError(f"line {number}: {word!r} is no key=value pair")
        yield key, value.strip('"')


def expand(hostlist: str) -> list[str]:
    """Names of a hostlist in its own order, duplicates kept: ``gpu[08-10]`` is gpu08, gpu09, gpu10.

    Raises ValueError on an unclosed bracket, an empty or falling range, a step, more than 65,536 names in a range, or a space.
    Text after a bracket is expanded; whether a version allows it is the caller's question (not before 23.11).
    """
    if re.search(r"\s", hostlist):
        raise ValueError(f"space in hostlist {hostlist!r}")
    return [name for term in _terms(hostlist) for name in _expand_term(term)]


def _terms(hostlist: str) -> list[str]:
    terms, depth, start = [], 0, 0
    for index, char in enumerate(hostlist):
        depth += (char == "[") - (char == "]")
        if depth not in (0, 1):
            raise ValueError(f"brackets of {hostlist!r} do not pair")
        if char == "," and not depth:
            terms.append(hostlist[start:index])
            start = index + 1
    if depth:
        raise ValueError(f"unclosed bracket in {hostlist!r}")
    return [term for term in (*terms, hostlist[start:]) if term]


def _expand_term(term: str) -> list[str]:
    parts = [_expand_bracket(piece[1:-1]) if piece.startswith("[") else [piece] for piece in _PIECE.findall(term)]
    return ["".join(name) for name in itertools.product(*parts)]


def _expand_bracket(ranges: str) -> list[str]:
    numbers: list[str] = []
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part)
        low, high = (match[1], match[2] or match[1]) if match else ("1", "0")
        if int(high) < int(low):
            raise ValueError(f"invalid range {part!r}")
        if int(high) - int(low) >= MAX_RANGE:
            raise ValueError(f"more than {MAX_RANGE} hosts in range {part!r}")
        numbers += [str(number).zfill(len(low)) for number in range(int(low), int(high) + 1)]
    return numbers
