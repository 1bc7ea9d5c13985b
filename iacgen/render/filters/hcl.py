"""HCL, the language of Terraform, laid out as ``terraform fmt`` lays it out."""

from __future__ import annotations

import re
import unicodedata

from .values import Quoted, UnrepresentableValue, escape, number, text, unicode_escape

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TEMPLATE = re.compile(r"([$%])(?=\{)")
_WORDS = frozenset("true false null for if in".split())


def hcl(value: object, indent: int = 0) -> Quoted:
    """``value`` as an expression; from the second line on indented by ``indent`` spaces.

    Maps take a line a key with the equals signs aligned, lists of scalars one line. Text is compared and stored by Terraform
    in Unicode's NFC form, so text in another form is refused.
    """
    first, *rest = _lines(value)
    return Quoted("\n".join([first, *(" " * indent + line for line in rest)]))


def hcl_part(value: object) -> Quoted:
    """The inside of a quoted template, without the quotes: ``"${var.prefix}-{{ name | hcl_part }}"``."""
    return Quoted(_string(value)[1:-1])


def _lines(value: object) -> list[str]:
    if isinstance(value, dict):
        return _map(value)
    if isinstance(value, list | tuple):
        items = [_lines(item) for item in value]
        if all(len(item) == 1 for item in items):
            return ["[" + ", ".join(item[0] for item in items) + "]"]
        out = ["["]
        for item in items:
            out += ["  " + line for line in item]
            out[-1] += ","
        return [*out, "]"]
    return [_scalar(value)]


def _map(value: dict[str, object]) -> list[str]:
    """``terraform fmt`` aligns a run of one-line entries and lets an entry of several lines break the run."""
    out, run = ["{"], []
    for key, item in [*value.items(), (None, None)]:
        lines = _lines(item)
        if key is not None and len(lines) == 1:
            run.append((_key(key), lines[0]))
            continue
        width = max((len(name) for name, _ in run), default=0)
        out += [f"  {name:<{width}} = {line}" for name, line in run]
        run = []
        if key is not None:
            out += [f"  {_key(key)} = {lines[0]}", *("  " + line for line in lines[1:])]
    return [*out, "}"] if len(out) > 1 else ["{}"]


def _key(key: object) -> str:
    """A bare word where that is one, else quoted and in ASCII, so that its width on the screen is its length."""
    if isinstance(key, str) and _IDENTIFIER.fullmatch(key) and key not in _WORDS:
        return str(key)
    return "".join(c if c.isascii() else unicode_escape(c) for c in _string(key))


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(number(value)) if isinstance(value, int | float) else _string(value)


def _string(value: object) -> str:
    word = text(value)
    if not unicodedata.is_normalized("NFC", word):
        raise UnrepresentableValue(f"Terraform would change {word!r} to its NFC form")
    # As an escape, since $${ is ambiguous behind another dollar sign.
    return '"' + _TEMPLATE.sub(lambda m: unicode_escape(m[0]), escape(word, _SHORT)) + '"'
