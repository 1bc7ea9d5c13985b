"""POSIX shell words."""

from __future__ import annotations

import shlex

from .values import Quoted, UnrepresentableValue, text


def sh(value: object) -> Quoted:
    """One shell word: a string or a whole number, in quotes where it needs them."""
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    if "\0" in word:
        raise UnrepresentableValue(f"{word!r} holds a NUL, which ends a word")
    return Quoted(shlex.quote(word))
