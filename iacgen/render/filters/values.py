"""What every filter shares: text that is already quoted, and the complaint about a value that no quoting can save."""

from __future__ import annotations

import math
import re


class UnrepresentableValue(ValueError):
    """A value that its reader cannot hold. The blueprint should have refused it, so this is a bug and not a finding."""


class Quoted(str):
    """Text that stands in a file as it is: a filter made it, or the program's own source holds it."""

    __slots__ = ()


class AnsibleExpression(str):
    """Jinja that Ansible shall evaluate, such as a vault lookup. It comes from the program's source, never from a blueprint."""

    __slots__ = ()


_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Written as escapes wherever the reader knows them: controls, line separators, and the invisible and direction-changing
# characters by which a file can look other than it reads. A fixed list: Python's own table changes with its version.
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]")


def text(value: object) -> str:
    """``value`` as a plain ``str`` that UTF-8 can hold."""
    if not isinstance(value, str):
        raise UnrepresentableValue(f"{value!r} is {type(value).__name__}, not text")
    if _SURROGATE.search(value):
        raise UnrepresentableValue(f"{value!r} holds half of a surrogate pair")
    return str(value)


def number(value: int | float) -> int | float:
    """A finite number; no reader here agrees with another on infinity."""
    if not math.isfinite(value):
        raise UnrepresentableValue(f"{value!r} is not a finite number")
    return value


def unicode_escape(character: str) -> str:
    r"""``\uXXXX`` or ``\UXXXXXXXX``, as YAML and HCL write it. No surrogate pairs: their readers would keep the halves apart."""
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


def escape(value: str, short: dict[str, str]) -> str:
    """``value`` with ``short`` applied and every other hidden character in its numeric form."""
    return _HIDDEN.sub(lambda m: unicode_escape(m[0]), value.translate(str.maketrans(short)))
