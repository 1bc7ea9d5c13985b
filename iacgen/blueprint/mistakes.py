"""One error of pydantic → one finding in the words of the blueprint language, with a hint that can be typed in."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Diagnostic
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
        return Diagnostic("IAC103", "missing-key", "error", f"{path[-1]!r} is missing", path, on_key=True)
    if m.type == "union_tag_invalid":
        return _unknown_kind(m, context["tag"], str(context["expected_tags"]), (*path, "kind"))
    if m.type == "literal_error" and path[-1] == "kind":
        return _unknown_kind(m, m.value, str(context["expected"]), path)
    if m.type == "string_pattern_mismatch":
        what = f"the name {short(path[-1])}" if on_key else short(m.value)
        return Diagnostic("IAC106", "malformed-text", "error", f"{what} does not match {context['pattern']}", path, on_key=on_key)
    if m.type in ("string_type", "literal_error") and isinstance(m.value, int | float) and (m.type == "string_type" or "'" in str(context["expected"])):
        return _unquoted(m)
    if m.type == "literal_error":
        return _unknown_value(m)
    message = _SAYS[m.type].format(**context) if m.type in _SAYS else short(str(context.get("error", m.message)), False, 200)
    return Diagnostic("IAC107", "wrong-value", "error", message, path, on_key=on_key, help=_help(m))


def _unquoted(m: Mistake) -> Diagnostic:
    """A number or truth value where text is wanted: 24.10 without quotes is 24.1."""
    kind = "true or false" if isinstance(m.value, bool) else "a number"
    return Diagnostic("IAC108", "unquoted-text", "error", f"text is wanted here; without quotes {short(m.text, False)} is {kind}", m.spot.path, help=f'write "{short(m.text, False)}"')


def _unknown_kind(m: Mistake, kind: object, expected: str, path: Path) -> Diagnostic:
    wanted = _wanted(expected)
    return Diagnostic("IAC104", "unknown-kind", "error", f"unknown kind {short(kind)}", path, help=choices(str(kind), wanted))


def _unknown_value(m: Mistake) -> Diagnostic:
    wanted = _wanted(str(m.context["expected"]))
    if isinstance(m.value, str) and m.value in wanted:  # a number in quotes
        return Diagnostic("IAC107", "wrong-value", "error", "a number is wanted here, this is text", m.spot.path, help=f"write {m.value} without quotes")
    if isinstance(m.value, bool) or not isinstance(m.value, str | int | float):
        return Diagnostic("IAC107", "wrong-value", "error", f"one of {', '.join(wanted)} is wanted here", m.spot.path)
    return Diagnostic("IAC105", "unknown-value", "error", f"expected {m.context['expected']}", m.spot.path, help=choices(m.text, wanted))


def _help(m: Mistake) -> str | None:
    value = m.value
    if m.type in ("int_type", "int_from_float", "float_type"):
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            return f"write {int(value)}"
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            return f"write {value.strip()[:20]} without quotes"
    if m.type == "bool_type":
        return {"yes": "write true", "on": "write true", "true": "write true without quotes", "no": "write false", "off": "write false", "false": "write false without quotes"}.get(str(value).lower())
    if m.type == "tuple_type" and isinstance(value, str):
        return f"write [{short(value, False)}]"
    if value is None and m.type in ("dict_type", "model_type", "model_attributes_type", "tuple_type", "string_type", "int_type", "bool_type", "float_type"):
        return "nothing stands behind this key: give it a value, or leave it out"
    return None


def _wanted(expected: str) -> list[str]:
    return [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]


def choices(word: str, known: list[str]) -> str | None:
    """The nearest known word, or all of them."""
    near = difflib.get_close_matches(word[:80].lower(), [k.lower() for k in known], n=1, cutoff=0.6)
    if near:
        return f"did you mean {next(k for k in known if k.lower() == near[0])!r}?"
    return f"known: {', '.join(known)}" if known else None


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
