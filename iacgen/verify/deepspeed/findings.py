"""The findings of the DeepSpeed judge: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "deepspeed-not-judged": "IAC880",
    "deepspeed-refused": "IAC881",
    "unread-deepspeed-key": "IAC882",
    "idle-deepspeed-value": "IAC883",
    "deepspeed-not-of-plan": "IAC884",
    "hostfile-not-of-placement": "IAC885",
}


def finding(slug: str, message: str, path: BlueprintPath = (), help: str | None = None) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``deepspeed-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "deepspeed-not-judged" else "error", message, path, help=help)
