"""A review as data, for what reads it next."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .build import Review
from .model import Effect
from .words import consequence_rows, finding_rows, headline

SCHEMA = 1


def render(reviews: Sequence[Review]) -> str:
    """One JSON document: the worst verdict, then each blueprint."""
    worst = max((r.verdict for r in reviews), default=Effect.NOTHING)
    return json.dumps({"schema": SCHEMA, "verdict": worst.key, "changed": any(r.changed for r in reviews), "blueprints": [_one(r) for r in reviews]}, indent=2, ensure_ascii=False)


def _one(review: Review) -> dict[str, Any]:
    return {
        "name": review.name,
        "verdict": review.verdict.key,
        "changed": review.changed,
        "headline": headline(review),
        "changes": [{"path": ".".join(map(str, c.path)), "old": c.old, "new": c.new} for c in review.changes],
        "consequences": [
            {"effect": c.effect.key, "path": ".".join(map(str, c.path)), "old": c.old, "new": c.new, "reason": c.reason, "action": c.action, "source": c.source} for c in consequence_rows(review)
        ],
        "figures": [{"name": f.label, "old": f.old, "new": f.new, "unit": f.unit} for f in review.figures],
        "findings": [dict(zip(("state", "finding", "path", "message"), row, strict=True)) for row in finding_rows(review)],
        "files": [{"path": f.path, "kind": f.kind, "added": f.added, "removed": f.removed} for f in review.files],
    }
