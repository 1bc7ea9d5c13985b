"""A model of the blueprint that is called as one of the catalog.

Why: a job names its model by one word. With two models of that name a reader of the job would take it for the published one, while
its memory, its time and its files follow other numbers.

Bad::

    models:
      llama-3-8b: {layers: 40, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 14336, vocabulary: 128256}

Good: ``llama-3-8b-deep``, or another name of your own.

Source: rule of this language: a name is an identity.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC226", "model-name-taken")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name in blueprint.models:
        if name in catalog.ids("models"):
            yield Found(f"the catalog has a model {name!r} too", ("models", name), help="give it a name of its own, or leave it out to train the published model", on_key=True)
