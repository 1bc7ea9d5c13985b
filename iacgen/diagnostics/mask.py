"""What looks secret is printed by no printer: findings are made to be read in logs of a CI, which many may read.

A secret is known by its shape, or by the key or option that it stands behind. Its characters in a line of the file become stars, so
that every column stays; in a message it becomes three of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .model import BlueprintPath, Span
from .secret import holds_secret, spots

_SHORTEST = 4  # characters of a word that is looked for in every message; shorter ones only in those about its own place
_SHOWN = "***"
_NAME = re.compile(r"[\w.-]+")
_SET = re.compile(r"""["']?\s*[:=]\s*""")
_FOLLOWS = re.compile(r"""["']?(?:\s*[:=,]\s*|\s+)""")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*+"?|'(?:[^']|'')*+'?""")
_ENDS = {True: re.compile(r"[,\]}]|\s#"), False: re.compile(r"\s#")}
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END|\Z)", re.DOTALL)
_BREAK = re.compile(r"\r\n|\r|\n")
_EMPTY = {"", "null", "~", "true", "false"}


class Mask:
    """The secrets of a document. ``row`` gives the line that a span lies in."""

    def __init__(self, data: Any, values: Mapping[BlueprintPath, Span], row: Callable[[Span], str]) -> None:
        self.places: dict[tuple[str, int], list[tuple[int, int]]] = {}
        self.words: dict[str, list[str]] = {}
        self.here: dict[BlueprintPath, list[str]] = {}
        for path, span in values.items():
            if _secret(path, data):
                self.places.setdefault((span.name, span.line), []).append((span.column - 1, span.end - 1))
                self.add(path, _at(data, path), row(span)[span.column - 1 : span.end - 1])
            elif isinstance(option := _at(data, path), str) and option.startswith("-") and "=" in option and holds_secret(option.partition("=")[0]):
                self.add(path, option.partition("=")[2], "")

    def add(self, path: BlueprintPath, value: Any, written: str) -> None:
        """Remember a secret as it was read and as it is written, each of its lines."""
        read = str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
        for word in dict.fromkeys((*_BREAK.split(read), *_BREAK.split(repr(read)[1:-1]), *((written.strip("\"'"),) if read == "" else ()))):
            if len(word := word.strip()) >= _SHORTEST:
                self.words.setdefault(word[:_SHORTEST], []).append(word)
            elif word not in _EMPTY:
                self.here.setdefault(path, []).append(word)

    def line(self, name: str, number: int, source: str, private: bool = False) -> str:
        """A line of the file with stars for what is secret in it; all of it is where it is part of a ``private`` key."""
        found = [(0, len(source))] if private else [*self.places.get((name, number), ()), *spots(source), *_held(source)]
        return _replaced(source, found, _stars)

    def said(self, text: str, path: BlueprintPath = ()) -> str:
        """A message about ``path`` without what is secret."""
        text = _replaced(text, [*spots(text), *self._known(text)], lambda _: _SHOWN)
        for word in self.here.get(path, ()):
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", _SHOWN, text)
        return text

    def _known(self, text: str) -> Iterable[tuple[int, int]]:
        """Where a secret of this document stands in a message, also one that was cut off."""
        for i in range(len(text) - _SHORTEST + 1) if self.words else ():
            for word in self.words.get(text[i : i + _SHORTEST], ()):
                cut = text.find("…", i, i + len(word))
                if text.startswith(word, i):
                    yield i, i + len(word)
                elif cut > i and word.startswith(text[i:cut]):
                    yield i, cut


def private_lines(text: str) -> frozenset[int]:
    """The lines of a text in which a private key stands, from 1."""
    out: set[int] = set()
    line, at = 1, 0
    for match in _PRIVATE_KEY.finditer(text):
        line += len(_BREAK.findall(text, at, match.start()))
        out.update(range(line, line + len(_BREAK.findall(match[0])) + 1))
        at = match.start()
    return frozenset(out)


def masked_name(name: str) -> str:
    """The name of a text: that of a value given on the command line holds the value."""
    return _replaced(name, [*spots(name), *_held(name)], _stars) if name.startswith("--set ") else name


def _secret(path: BlueprintPath, data: Any) -> bool:
    """Whether what stands at ``path`` is behind a key that holds something secret, or is the word after such an option."""
    if any(isinstance(step, str) and holds_secret(step) for step in path):
        return True
    before = _at(data, (*path[:-1], path[-1] - 1)) if path and isinstance(path[-1], int) and path[-1] else None
    return isinstance(before, str) and before.startswith("-") and holds_secret(before) and not str(_at(data, path)).startswith("-")


def _held(line: str) -> list[tuple[int, int]]:
    """What stands behind a name that holds something secret: ``key: value``, ``--option=value``, ``[--option, value]``."""
    out: list[tuple[int, int]] = []
    at = counted = depth = 0
    while name := _NAME.search(line, at):
        at = name.end()
        option = name[0].startswith("-") or not line[: name.start()].strip(" -")  # or a key that lacks its colon
        if not holds_secret(name[0]) or not (sign := (_FOLLOWS if option else _SET).match(line, at)):
            continue
        depth += sum((c in "[{") - (c in "]}") for c in line[counted : name.start()])
        begin = counted = sign.end()
        quoted = _QUOTED.match(line, begin)
        end = quoted or _ENDS[depth > 0 or name[0].startswith("-")].search(line, begin)
        at = (quoted.end() if quoted else end.start() if end else len(line)) if line[begin : begin + 1] else begin
        if line[begin:at].strip() not in _EMPTY:
            out.append((begin, at))
        at = max(at, sign.end())
    return out


def _replaced(text: str, found: Iterable[tuple[int, int]], by: Callable[[str], str]) -> str:
    """The text with something else for each stretch; those that overlap are one."""
    parts, end = [], 0
    joined: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((start, stop))
    for start, stop in joined:
        parts += [text[end:start], by(text[start:stop])]
        end = stop
    return "".join([*parts, text[end:]])


def _stars(secret: str) -> str:
    """As many; what takes two code units in UTF-16 is replaced by what does too, so that no column moves for any reader."""
    shown = secret.rstrip()
    return "".join("*" if c <= "\uffff" else "\N{MEDIUM SIX SPOKED ASTERISK}" for c in shown) + secret[len(shown) :]


def _at(data: Any, path: BlueprintPath) -> Any:
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data
