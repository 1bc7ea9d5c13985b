"""The findings of the Megatron judge: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "megatron-not-judged": "IAC840",
    "megatron-refused": "IAC841",
    "megatron-not-of-plan": "IAC842",
    "group-not-of-placement": "IAC843",
    "unplanned-megatron-argument": "IAC844",
    "idle-megatron-argument": "IAC845",
}


def finding(slug: str, message: str, path: BlueprintPath = (), help: str | None = None) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``megatron-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "megatron-not-judged" else "error", message, path, help=help)
