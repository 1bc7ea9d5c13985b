"""The findings of the Megatron judge: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "megatron-not-judged": "IAC880",
    "megatron-refused": "IAC881",
    "megatron-not-of-plan": "IAC882",
    "group-not-of-placement": "IAC883",
    "unplanned-megatron-argument": "IAC884",
    "idle-megatron-argument": "IAC885",
}


def finding(slug: str, message: str, path: BlueprintPath = (), help: str | None = None) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``megatron-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "megatron-not-judged" else "error", message, path, help=help)
