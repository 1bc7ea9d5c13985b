"""One scalar → its value, or why it has none: what two YAML readers take for two different things is refused.

A blueprint is read by YAML 1.2 here and by YAML 1.1 in most editors and tools (PyYAML, and so Ansible). The two disagree on
``no``, ``0x10``, ``010``, ``1_000``, ``1:30``, ``2024-01-01`` and others; a text in quotes they never disagree on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TAG = "tag:yaml.org,2002:"


class Complaint(NamedTuple):
    """Why a scalar is refused."""

    id: str
    slug: str
    message: str
    help: str | None = None


_WORDS = {"y": "yes", "n": "no", "yes": "yes", "no": "no", "on": "yes", "off": "no"}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
_FLOAT = re.compile(r"-?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", re.ASCII)
# Numbers of YAML 1.1 that are text in 1.2: digits in base 60, base 2, and with underscores.
_OLD_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|0b[01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|0x[0-9a-fA-F_]+|0o?[0-7_]+)", re.ASCII)


def value(tag: str, text: str, plain: bool) -> tuple[object, Complaint | None]:
    """Text, number, truth or None for a scalar that the parser gave ``tag``; ``plain`` is one without quotes."""
    kind = tag.removeprefix(TAG)
    if kind == "str":
        return text, _text(text) if plain else None
    if kind == "null" and text in ("", "~", "null", "Null", "NULL"):
        return None, None
    if kind == "bool" and text.lower() in ("true", "false"):
        return text.lower() == "true", None
    if kind == "bool" and text.lower() in _WORDS:
        return None, _text(text)
    if kind == "int":
        return (int(text), None) if _NUMBER.fullmatch(text) else (None, _number(text))
    if kind == "float":
        number = float(text) if _FLOAT.fullmatch(text) and len(text) <= 40 else float("inf")
        return (number, None) if abs(number) != float("inf") else (None, _number(text))
    if kind == "timestamp":
        return None, Complaint("IAC012", "bare-date", f"{short(text)} is a date to some YAML readers and text to others", f"if it is text, write {quoted(text)}")
    if kind == "merge" or (kind == "value" and text == "="):
        return None, _word(text)
    return None, Complaint("IAC008", "unknown-tag", f"the tag {short(tag)} is not part of the blueprint language", "leave the tag out; quote the value if it is text")


def _text(text: str) -> Complaint | None:
    """A plain text that YAML 1.1 takes for something else."""
    if text.lower() in _WORDS and text in (text.lower(), text.upper(), text.capitalize()):
        truth = "true" if _WORDS[text.lower()] == "yes" else "false"
        return Complaint("IAC011", "ambiguous-word", f"{text} is {truth} to some YAML readers and text to others", f"write {truth}, or {quoted(text)} if it is text")
    if text in ("=", "<<"):
        return _word(text)
    return _number(text) if len(text) <= 80 and text[:1] in "+-.0123456789" and _OLD_NUMBER.fullmatch(text) else None


def _word(text: str) -> Complaint:
    return Complaint("IAC011", "ambiguous-word", f"{text} has a meaning of its own to some YAML readers", f"write {quoted(text)} if it is text")


def _number(text: str) -> Complaint:
    return Complaint("IAC007", "ambiguous-number", f"{short(text)} reads as different numbers, or as text, in different YAML versions", f"write plain decimal digits, or {quoted(text)} if it is text")


def quoted(text: str) -> str:
    """The text in double quotes, shortened, as a hint."""
    return '"' + short(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def short(text: str, most: int = 60) -> str:
    """No more of an untrusted text than a person reads in a message."""
    return text if len(text) <= most else f"{text[:most]}…"
