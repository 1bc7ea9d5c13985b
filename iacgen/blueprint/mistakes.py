"""One error of pydantic → one finding in the words of the blueprint language, with a hint that can be typed in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Diagnostic
from ..diagnostics.nearest import closest
from . import hints
from .language import Path, Spot

_SAYS = {
    "int_type": "a whole number is wanted here",
    "int_from_float": "a whole number is wanted here",
    "float_type": "a number is wanted here",
    "bool_type": "true or false is wanted here",
    "dict_type": "a mapping (name: {{...}}) is wanted here",
    "model_type": "a mapping (key: value) is wanted here",
    "model_attributes_type": "a mapping (key: value) is wanted here",
    "tuple_type": "a list is wanted here",
    "list_type": "a list is wanted here",
    "string_type": "text is wanted here",
    "none_required": "this key takes no value here; leave it out",
    "greater_than": "more than {gt} is wanted here",
    "greater_than_equal": "{ge} or more is wanted here",
    "less_than_equal": "{le} or less is wanted here",
    "less_than": "less than {lt} is wanted here",
    "too_short": "at least {min_length} is wanted here",
    "too_long": "at most {max_length} are taken here",
    "string_too_long": "at most {max_length} characters are taken here",
    "string_too_short": "at least {min_length} characters are wanted here",
}


_EMPTIABLE = ("dict_type", "model_type", "model_attributes_type", "tuple_type", "string_type", "int_type", "bool_type", "float_type")
_EMPTY = "nothing stands behind this key: give it a value, or leave it out"
_NUMBER = re.compile(r"[0-9.]+")


@dataclass(frozen=True)
class Mistake:
    """An error of pydantic, where it is, and the data around it."""

    type: str
    message: str
    context: dict[str, Any]
    spot: Spot
    data: Any
    written: Callable[[Path], str] | None

    @property
    def value(self) -> Any:
        """What stands at the place."""
        return at(self.data, self.spot.path)

    @property
    def text(self) -> str:
        """The same as it is written in the file."""
        raw = self.written(self.spot.path) if self.written else ""
        return raw or ("" if self.value is None else str(self.value))


def said(m: Mistake) -> Diagnostic:
    """The finding for one error."""
    path, on_key, context = m.spot.path, m.spot.on_key, m.context
    if m.type == "missing":
        shown = hints.such_as(path)
        return Diagnostic("IAC103", "missing-key", "error", f"{path[-1]!r} is missing", path, on_key=True, help=shown and shown.replace("such as ", f"such as {path[-1]}: ", 1))
    if m.type == "union_tag_invalid":
        return _unknown_kind(m, str(context["expected_tags"]), (*path, "kind"))
    if m.type == "literal_error" and path[-1] == "kind":
        return _unknown_kind(m, str(context["expected"]), path)
    if m.type == "string_pattern_mismatch":
        what = f"the name {short(path[-1])}" if on_key else short(m.value)
        help = hints.formed(path[-1] if on_key else m.value, context["pattern"], path, on_key)
        return Diagnostic("IAC106", "malformed-text", "error", f"{what} does not match {context['pattern']}", path, on_key=on_key, help=help)
    if m.type in ("string_type", "literal_error") and isinstance(m.value, int | float) and (m.type == "string_type" or "'" in str(context["expected"])):
        return _unquoted(m)
    if m.type == "literal_error":
        return _unknown_value(m)
    message = _SAYS[m.type].format(**context) if m.type in _SAYS else short(str(context.get("error", m.message)), False, 200)
    return Diagnostic("IAC107", "wrong-value", "error", message, path, on_key=on_key, help=_help(m, message))


def _unquoted(m: Mistake) -> Diagnostic:
    """A number or truth value where text is wanted: 24.10 without quotes is 24.1."""
    kind = "true or false" if isinstance(m.value, bool) else "a number"
    text = short(m.text, False)
    help = hints.worded(text, m.spot.path, _wanted(str(m.context["expected"])) if m.type == "literal_error" else [])
    return Diagnostic("IAC108", "unquoted-text", "error", f"text is wanted here; without quotes {text} is {kind}", m.spot.path, help=help)


def _unknown_kind(m: Mistake, expected: str, path: Path) -> Diagnostic:
    wanted, value = _wanted(expected), at(m.data, path)
    if value is None:
        return Diagnostic("IAC104", "unknown-kind", "error", "nothing stands behind 'kind'", path, help=choices("", wanted))
    if isinstance(value, list | dict):
        word = str(next(iter(value), ""))
        return Diagnostic("IAC104", "unknown-kind", "error", f"a kind is one word, and this is a {'list' if isinstance(value, list) else 'mapping'}", path, help=choices(word, wanted))
    word = value if isinstance(value, str) else (m.written(path) if m.written else "") or str(value)
    return Diagnostic("IAC104", "unknown-kind", "error", f"unknown kind {short(word)}", path, help=choices(word, wanted))


def _unknown_value(m: Mistake) -> Diagnostic:
    wanted, value = _wanted(str(m.context["expected"])), m.value
    if isinstance(value, str) and value in wanted:  # a number in quotes
        return Diagnostic("IAC107", "wrong-value", "error", "a number is wanted here, this is text", m.spot.path, help=f"write {value} without quotes")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        help = hints.kinds_of_value(value, m.spot.path) if isinstance(value, list | dict) else _EMPTY if value is None else None
        return Diagnostic("IAC107", "wrong-value", "error", f"one of {', '.join(wanted)} is wanted here", m.spot.path, help=help)
    known = [word for word in wanted if isinstance(value, str) and not (_NUMBER.fullmatch(word) and _NUMBER.fullmatch(m.text) and not m.text.startswith(word))]
    if isinstance(value, float) and value.is_integer() and str(int(value)) in wanted:
        help: str | None = f"write {int(value)}"
    else:
        help = choices(m.text, known, wanted)
    return Diagnostic("IAC105", "unknown-value", "error", f"expected {m.context['expected']}", m.spot.path, help=help)


def _help(m: Mistake, message: str) -> str | None:
    value, path = m.value, m.spot.path
    if value is None and (m.type in _EMPTIABLE or m.type == "value_error"):
        return f'& sets an anchor of YAML; if it is text, write "{short(m.text, False)}"' if m.text.startswith("&") else _EMPTY
    if m.type in ("int_type", "int_from_float", "float_type"):
        return hints.whole(value)
    if m.type == "bool_type":
        return hints.truth(value)
    if m.type in ("tuple_type", "list_type"):
        return hints.listed(value, path) or hints.such_as(path)
    if m.type in ("dict_type", "model_type", "model_attributes_type", "too_short"):
        return hints.such_as(path)
    if m.type == "string_type" or (m.type == "value_error" and isinstance(value, list | dict)):
        return hints.kinds_of_value(value, path)
    if m.type == "value_error" and (meant := hints.network(value)):
        return meant
    return hints.such_as(path) if m.type == "value_error" and not re.search(r"such as|did you mean|write |counts bits", message) else None


def _wanted(expected: str) -> list[str]:
    return [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]


def choices(word: str, known: list[str], shown: list[str] | None = None) -> str | None:
    """The nearest of the words that are ``known``, or all that may be ``shown``."""
    if near := closest(word, known):
        return f"did you mean {near if near.isdigit() else repr(near)}?"
    return f"known: {', '.join(shown or known)}" if shown or known else None


def at(data: Any, path: Path) -> Any:
    """What stands at ``path``, or None."""
    for step in path:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def short(value: object, quotes: bool = True, most: int = 60) -> str:
    """A value of the file in a message: never longer than a person reads."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= most else f"{text[:most]}…"
    return repr(text) if quotes and isinstance(value, str) else text
