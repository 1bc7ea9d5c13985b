"""The findings of the NCCL judge: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "nccl-not-judged": "IAC890",
    "nccl-file-missing": "IAC891",
    "malformed-environment": "IAC892",
    "unknown-nccl-variable": "IAC893",
    "nccl-value-changed": "IAC894",
    "nccl-refused": "IAC895",
    "dialects-disagree": "IAC896",
    "nccl-not-of-fabric": "IAC897",
}


def finding(slug: str, message: str, path: BlueprintPath = (), help: str | None = None) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``nccl-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "nccl-not-judged" else "error", message, path, help=help)
