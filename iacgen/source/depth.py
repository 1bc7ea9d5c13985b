"""How deep a text is nested, told from its brackets and its indentation before any parser sees it.

The parser recurses once a level, so a bound on depth comes first. The scan may miss levels of a mixed nesting, which the composer
counts exactly; it never takes long: one pass each for brackets and for lines.
"""

from __future__ import annotations

import re

from ..diagnostics import lines

MAX_DEPTH = 50
# A quote opens a text only where a value can begin; possessive, so that no text makes it try twice.
_TOKEN = re.compile(r"""(?<![^\s\[{,:])(?:"(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')|(?<!\S)\#[^\r\n]*|[\[{\]}]""", re.DOTALL)
_KEY = re.compile(r":(?:\s|$)")
_INDENT = re.compile(r" *((?:[-?:] +)*)")


def too_deep(text: str) -> int | None:
    """Index of the character that opens a level beyond ``MAX_DEPTH``, or None."""
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return match.start()
        elif match[0] in "]}":
            depth = max(0, depth - 1)
    return _indented(text)


def unclosed(text: str) -> list[int]:
    """Indices of the brackets that no bracket of their kind closes, the innermost last."""
    open_: list[int] = []
    for match in _TOKEN.finditer(text):
        if match[0] in "[{":
            open_.append(match.start())
        elif match[0] in "]}" and open_ and text[open_[-1]] + match[0] in ("[]", "{}"):
            open_.pop()
    return open_


def quoted_until(text: str, index: int) -> int | None:
    """Index of the quote that opens a text of several lines which ends right before ``index``, but for blanks, or None."""
    end = len(text[:index].rstrip())
    last = None
    for match in _TOKEN.finditer(text):
        if match.end() >= end:
            last = match if match.end() == end and match[0][0] in "\"'" else None
            break
    return last.start() if last and len(lines(last[0])) > 1 else None


def _indented(text: str) -> int | None:
    levels: list[int] = []
    start = 0
    for line in lines(text):
        match = _INDENT.match(line)
        assert match
        if match.end() < len(line) and line[match.end()] != "#":
            columns = [match.start(1) + m.start() for m in re.finditer("[-?:]", match[1])]
            if not columns or _KEY.search(line, match.end()):
                columns.append(match.end())
            for column in columns:
                while levels and levels[-1] >= column:
                    levels.pop()
                levels.append(column)
                if len(levels) > MAX_DEPTH:
                    return start + column
        start += len(line) + (2 if text.startswith("\r\n", start + len(line)) else 1)
    return None
