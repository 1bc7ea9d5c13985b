"""A word that looks like a key of an unknown kind.

Why: nobody writes or remembers such a word; it was copied from somewhere that makes keys. If it is one, every reader of the repository
has it.

Bad::

    training:
      pretrain: {arguments: ["--tracker=Zk3Qv9Lw7Xr2Ty8Ub4Nm6Pd1Sf5Gh0Jc"]}

Good: leave it out; where it is no secret, say so with an allow comment.

Source: naver-ai/DUO#2, an API key in a published script; the entropy rule is that of truffleHog and detect-secrets.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics.secret import looks_random, secret_kind
from ..rule import Found, rule
from ..words import words


@rule("IAC287", "random-looking-word", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for text, path, on_key in words(blueprint):
        if not secret_kind(text) and looks_random(text):
            yield Found("this looks like a key", path, on_key=on_key)
