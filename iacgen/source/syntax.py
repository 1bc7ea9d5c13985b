"""What the parser stumbles over → what the writer of the file did, at the place where it was done.

A parser goes on until it can go no further, often in a line below the mistake: a missing colon shows at the next key, a bracket or a
quote that is not closed at the end of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ruamel.yaml.error import MarkedYAMLError

from ..diagnostics import lines
from .depth import quoted_until, unclosed


class Fault(NamedTuple):
    """Words; line, column and length in characters, line and column from 0; what to write instead."""

    words: str
    line: int = 0
    column: int = 0
    length: int = 1
    help: str | None = None


# What the parser says → the words for it, where its own place is right.
_SAYS = {
    "that cannot start any token": "this character has a meaning in YAML; quote the text",
    "found unexpected end of stream": "this quote is not closed",
    "found undefined alias": "no anchor above has the name of this alias",
    "expected alphabetic or numeric character": "a name is wanted behind & or *; quote the value if it is text",
    "chomping or indentation indicators": "this sign begins a text in the lines below it; quote the value if it is text",
    "unknown escape character": "no escape has this letter; within double quotes a backslash is written twice",
    "expected escape sequence of": "an escape lacks some of its digits; within double quotes a backslash is written twice",
}
_AT_THE_OPENING = ("found unexpected end of stream", "chomping or indentation indicators")
_COLON = re.compile(r":(?=\s|$)")
_NO_SPACE = re.compile(r"""["']?[\w.-]+["']?:(?=[^\s/])""")
_EQUALS = re.compile(r"[\w.-]+\s*=(?!=)")
_LAST_WORD = re.compile(r"""("[^"]*"|'[^']*'|[\w./-]+)\s*$""")


def fault(error: MarkedYAMLError, text: str) -> Fault:
    """What is wrong in ``text``, of which the parser says ``error``."""
    problem = " ".join(str(error.problem or error.context or "unreadable YAML").split())
    mark, opened = error.problem_mark or error.context_mark, error.context_mark
    if mark is None:
        return Fault(_short(problem))
    rows = lines(text)
    if "<stream end>" in problem and (left := unclosed(text)):
        return _open(text, left[-1])
    if "<document start>" in problem:
        row = next((i for i, line in enumerate(rows) if line.startswith("%")), None)
        return Fault("this closes or continues what has ended", mark.line, mark.column) if row is None else Fault("a line that begins with % is a directive of YAML; quote the text", row)
    if "found character '\\t'" in problem or "found a tab character" in problem:
        return Fault("YAML takes no tab here; write spaces", mark.line, mark.column)
    if "could not find expected ':'" in problem and opened:
        return _no_colon(rows, opened.line, opened.column)
    if "mapping values are not allowed" in problem:
        return _colon(rows, mark)
    if problem.startswith(("expected ',' or", "expected <block end>")):
        if quote := quoted_until(text, mark.index):
            line, column = _place(text, quote)
            return Fault(f"this quote is not closed before line {mark.line + 1}", line, column)
        return _flow(text, problem, opened, mark) if "','" in problem.partition("but")[0] else _block(rows, problem, mark)
    words = next((says for part, says in _SAYS.items() if part in problem), _short(problem))
    here = opened if opened and any(part in problem for part in _AT_THE_OPENING) else mark
    return Fault(words, here.line, here.column)


def _no_colon(rows: Sequence[str], line: int, column: int) -> Fault:
    """A line among lines of ``key: value`` that is none."""
    row = rows[line]
    said = row[column:].rstrip()
    if row.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        return Fault("a merge of git has left its mark", line, 0, len(row), "keep one of the two sides, and no mark")
    if match := _NO_SPACE.match(said):
        return Fault("a space is wanted behind this colon", line, column + match.end() - 1, 1, f"write {match[0]} and a space")
    if re.match(r"-[^\s-]", said):
        return Fault("a space is wanted behind this dash", line, column, 1, "an item of a list begins with '- '")
    if match := _EQUALS.match(said):
        return Fault("a key ends with ': ', not with '='", line, column + match.end() - 1)
    key = re.match(r"[\w.-]*", said)
    help = f"write {_short(key[0], 40)}: and its value" if key and key[0] else None
    return Fault("this line lacks the ': ' behind its key", line, column, max(1, len(said)), help)


def _colon(rows: Sequence[str], mark: Any) -> Fault:
    """A ``: `` where none can be: it is the second of its line, or a line above went wrong."""
    head = rows[mark.line][: mark.column]
    above = next((i for i in range(mark.line - 1, -1, -1) if rows[i].strip() and not rows[i].lstrip().startswith("#")), None)
    if above is not None and re.fullmatch(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*""", head):
        indent = len(rows[above]) - len(rows[above].lstrip())
        if not _COLON.search(rows[above]):
            return _no_colon(rows, above, indent)
        begin = len(head) - len(head.lstrip())
        if begin > indent:
            return Fault("this line is indented below a line that has its value already", mark.line, begin, len(head.strip()), "begin it below the first letter of that line, or deeper below a key without a value")
    return Fault("a second ': ' in one line: quote the text, or begin a new line", mark.line, mark.column)


def _flow(text: str, problem: str, opened: Any, mark: Any) -> Fault:
    """Within brackets: one of them is not closed or closed by the other kind, or a comma is missing."""
    got = problem.rpartition("got ")[2].strip("'")
    if got in ("}", "]"):
        kinds = {"}": "mapping", "]": "list"}
        other = kinds["]" if got == "}" else "}"]
        return Fault(f"this closes a {kinds[got]}, and the {other} that begins in line {opened.line + 1} is still open", mark.line, mark.column)
    if left := unclosed(text):
        return _open(text, opened.index if opened.index in left else left[-1])
    column = mark.column
    if got == ":" and (word := _LAST_WORD.search(lines(text)[mark.line][:column])):
        column = word.start()
    return Fault("a comma is wanted before this", mark.line, column, 1, "or quotes, where brackets are part of a text" if got in ("[", "{") else None)


def _block(rows: Sequence[str], problem: str, mark: Any) -> Fault:
    """What fits to no line above: a bracket or a comma too many, words behind a quote, another indentation."""
    got = problem.rpartition("found ")[2].strip("'")
    before = rows[mark.line][: mark.column].rstrip() if mark.line < len(rows) else ""
    at = (mark.line, mark.column)
    if got in ("}", "]"):
        return Fault("this bracket closes nothing", *at)
    if got == ",":
        return Fault("this comma stands outside of all brackets", *at, 1, "a list stands in [ ], a text with commas in quotes")
    if got == "<scalar>" and before.endswith(("'", '"')):
        return Fault("words stand behind the quote that closes here", *at, 1, "within single quotes an apostrophe is written twice" if before.endswith("'") else 'within double quotes a quote is written \\"')
    if got == "<scalar>" and before.endswith(("]", "}")):
        return Fault("words stand behind the bracket that closes here", *at, 1, "begin a new line, or a comment with ' #'")
    if got == "-":
        return Fault("an item of a list among lines of 'key: value'", *at, 1, "indent it below the key of the list")
    if got == "?" and before == "":
        return Fault("a key among the items of a list", *at)
    return Fault("the indentation of this line fits none of the lines above", *at)


def _open(text: str, index: int) -> Fault:
    return Fault(f"this {'list' if text[index] == '[' else 'mapping'} is not closed", *_place(text, index), 1, f"write {']' if text[index] == '[' else '}'} at its end")


def _place(text: str, index: int) -> tuple[int, int]:
    before = lines(text[:index])
    return len(before) - 1, len(before[-1])


def _short(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
