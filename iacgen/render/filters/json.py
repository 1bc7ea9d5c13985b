"""JSON: two spaces, ASCII, keys in the order given."""

from __future__ import annotations

from json import dumps

from .values import Quoted, number, text


def json(value: object, indent: int | None = 2) -> Quoted:
    """``value`` as JSON without a final newline; ``indent`` None puts it on one line.

    Refuses what ``json.dumps`` would change in silence: a key that is no string, NaN, half of a surrogate pair.
    """
    return Quoted(dumps(_checked(value), indent=indent, ensure_ascii=True, allow_nan=False))


def _checked(value: object) -> object:
    if isinstance(value, dict):
        return {text(key): _checked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(item) for item in value]
    if value is None or isinstance(value, bool):
        return value
    return number(value) if isinstance(value, int | float) else text(value)
