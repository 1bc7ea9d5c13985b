"""The findings of the DeepSpeed judge: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "deepspeed-not-judged": "IAC870",
    "deepspeed-refused": "IAC871",
    "unread-deepspeed-key": "IAC872",
    "idle-deepspeed-value": "IAC873",
    "deepspeed-not-of-plan": "IAC874",
    "hostfile-not-of-placement": "IAC875",
}


def finding(slug: str, message: str, path: BlueprintPath = (), help: str | None = None) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``deepspeed-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "deepspeed-not-judged" else "error", message, path, help=help)
