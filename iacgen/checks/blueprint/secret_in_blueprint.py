"""A key or token in the blueprint.

Why: the blueprint and the files that are made of it are committed, reviewed and copied to every node; arguments are shown by ``ps`` and
by experiment trackers as well. A key that was there once must be taken back, wherever it is deleted later.

Bad::

    training:
      pretrain:
        arguments: [--hub-token=hf_0123456789012345678901234567890123]

Good: leave it out. The script reads it from the environment, or from a file that only the user may read.

Source: huggingface/diffusers#6916 and kohya-ss/sd-scripts#1123, tokens in arguments that a tracker shows; naver-ai/DUO#2.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics.secret import secret_kind
from ..rule import Found, rule
from ..words import words


@rule("IAC285", "secret-in-blueprint")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for text, path, on_key in words(blueprint):
        if kind := secret_kind(text):
            yield Found(f"this looks like {kind}", path, help="take it back where it was issued, and let the script read the new one from its environment", on_key=on_key)
