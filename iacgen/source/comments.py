"""The comments that speak to iacgen, found in the text, since no loader keeps them."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.tokens import ScalarToken

from ..diagnostics import Span
from ..diagnostics.model import lines

_SPEAKS = re.compile(r"#+[ \t]*iacgen[ \t]*:([^\r\n]*)", re.IGNORECASE)
_VERB = "(?:allow|ignore|disable|suppress|skip|noqa|nosec)"
# Meant to speak to iacgen, and not in its form: without the colon, or without its name and with that of a finding.
_MEANS_TO = re.compile(rf"#+[ \t]*(?:iacgen(?![a-z0-9])[ \t_.,;=-]*{_VERB}\b|{_VERB}\b[^\r\n]*\bIAC[0-9]{{3}}\b)", re.IGNORECASE)
_NAMES = re.compile("iacgen|IAC[0-9]{3}", re.IGNORECASE)
_HASH = re.compile(r"(?<![^ \t\r\n])#")
_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Comment:
    """``# iacgen: words``; no words where it is not in that form. ``covers`` is the line that it is about: its own, or when it stands
    alone the next that is no comment."""

    words: str
    at: Span
    alone: bool
    covers: int


def comments(text: str, name: str) -> tuple[Comment, ...]:
    """All of them in the order of the file. What stands in a scalar is no comment, nor is a comment within a comment."""
    if not _NAMES.search(text):
        return ()
    scalars, rows, out = _scalars(text), lines(text), []
    following, begin = _following(rows), 0
    for line, row in enumerate(rows, 1):
        hash = next((m.start() for m in _HASH.finditer(row) if not _within(begin + m.start(), scalars)), None) if _NAMES.search(row) else None
        match = (_SPEAKS.match(row, hash) or _MEANS_TO.match(row, hash)) if hash is not None else None
        if match:
            alone = not row[: match.start()].strip()
            span = Span(line, match.start() + 1, len(row.rstrip()) + 1, name)
            out.append(Comment(match[1].strip() if match.re is _SPEAKS else "", span, alone, following[line - 1] if alone else line))
        end = _BREAK.match(text, begin + len(row))
        begin = end.end() if end else begin
    return tuple(out)


def _scalars(text: str) -> list[tuple[int, int]]:
    """First and last index of each scalar; the head of a block scalar (``|``, ``>``) is left out, a comment may stand there."""
    out: list[tuple[int, int]] = []
    try:
        for token in YAML(typ="safe", pure=True).scan(text):
            if isinstance(token, ScalarToken):
                begin, end = token.start_mark.index, token.end_mark.index
                head = _BREAK.search(text, begin, end) if token.style in ("|", ">") else None
                out.append((head.end() if head else end if token.style in ("|", ">") else begin, end))
    except (YAMLError, ValueError, RecursionError):
        pass  # the loader says what is wrong; up to there the scalars are known
    return out


def _within(index: int, scalars: list[tuple[int, int]]) -> bool:
    before = bisect_right(scalars, (index, len(scalars) and scalars[-1][1] + 1)) - 1
    return before >= 0 and scalars[before][0] <= index < scalars[before][1]


def _following(rows: list[str]) -> list[int]:
    """For each line the first one below it that says something; itself where none does."""
    out, below = [], 0
    for line in range(len(rows), 0, -1):
        out.append(below or line)
        words = rows[line - 1].strip()
        below = line if words and not words.startswith("#") and words != "---" else below
    return out[::-1]
