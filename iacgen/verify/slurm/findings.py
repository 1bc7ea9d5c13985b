"""The findings of the Slurm judges: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

_IDS = {
    "slurm-not-judged": "IAC850",
    "slurm-refused": "IAC851",
    "slurm-complaint": "IAC852",
    "topology-not-of-fabric": "IAC853",
    "malformed-topology": "IAC854",
    "malformed-slurm-conf": "IAC855",
    "malformed-gres": "IAC856",
    "malformed-rank-file": "IAC857",
    "rank-order": "IAC858",
    "batch-script": "IAC859",
}


def finding(slug: str, message: str, path: BlueprintPath = ("scheduler",)) -> Diagnostic:
    """An error with the id that belongs to ``slug``; only ``slurm-not-judged`` is no error."""
    return Diagnostic(_IDS[slug], slug, "info" if slug == "slurm-not-judged" else "error", message, path)


def some(names: object, most: int = 5) -> str:
    """A few names of many, sorted: ``gpu0001, gpu0002 and 30 more``."""
    listed = sorted(names)  # type: ignore[call-overload]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
