"""Bytes of an untrusted file → text, and text → JSON values or a YAML document, or why not."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from ..diagnostics import Diagnostic
from .found import finding, short

MAX_BYTES = 64 * 1024 * 1024  # ibnetdiscover prints about 100 bytes a port: 64 MiB are 300,000 links told from both ends
YAML_ROOM = 8  # times the size and the values of a blueprint: 2 MiB, as the parser takes some ten seconds a MiB
_BLANK = re.compile(r"[ \t\r\n\ufeff]*")


class Unreadable(Exception):
    """What stops the reading, as a finding."""

    def __init__(self, finding: Diagnostic) -> None:
        super().__init__(finding.message)
        self.finding = finding


def decode(raw: bytes, file: str) -> str:
    """UTF-8 text. Raises Unreadable."""
    if len(raw) > MAX_BYTES:
        raise Unreadable(finding("unreadable-topology", f"the file is larger than {MAX_BYTES // 2**20} MiB", file))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(finding("unreadable-topology", f"byte {error.start} (0x{raw[error.start]:02x}) is not UTF-8 text", file, raw.count(b"\n", 0, error.start) + 1)) from None
    if "\x00" in text:
        raise Unreadable(finding("unreadable-topology", "the file holds NUL bytes: it is no text", file, text.count("\n", 0, text.index("\x00")) + 1))
    return text


def values(text: str, file: str) -> list[Any]:
    """The JSON values of a file: one, or several behind each other, as pages of an answer that were put into one file. Raises Unreadable."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)
    out, at = [], _after_blanks(text, 0)
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise Unreadable(finding("unreadable-topology", f"this is no JSON: {error.msg}", file, error.lineno, column=error.colno)) from None
        except RecursionError:
            raise Unreadable(finding("unreadable-topology", "the JSON is nested too deeply", file, text.count("\n", 0, at) + 1)) from None
        except ValueError as error:  # a key twice, NaN, a number of thousands of digits
            raise Unreadable(finding("unreadable-topology", f"the JSON cannot be taken: {short(str(error))}", file, text.count("\n", 0, at) + 1)) from None
        out.append(value)
        at = _after_blanks(text, at)
    return out


def document(text: str, file: str) -> tuple[Any, list[Diagnostic]]:
    """The data of a YAML document, and what is wrong with it. Raises Unreadable for one larger than its parser can take in sensible time."""
    from .. import source

    most = YAML_ROOM * source.MAX_BYTES
    if len(text) > most:
        raise Unreadable(finding("unreadable-topology", f"this is no JSON, and YAML is taken up to {most // 2**20} MiB", file, help="print it as JSON, such as kubectl get nodes -o json"))
    read, findings = source.read(text, file, YAML_ROOM)
    return read.data, findings


def _after_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return out


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
