"""The findings of the Ansible judge: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "ansible-not-judged": "IAC870",
    "ansible-refused": "IAC871",
    "ansible-lint-complaint": "IAC872",
    "inventory-not-of-design": "IAC873",
    "missing-role-file": "IAC874",
    "broken-expression": "IAC875",
    "unknown-handler-or-group": "IAC876",
    "unused-variable": "IAC877",
    "ungated-action": "IAC878",
    "secret-in-tree": "IAC879",
}


def finding(slug: str, message: str, path: BlueprintPath = ()) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``ansible-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "ansible-not-judged" else "error", message, path)
