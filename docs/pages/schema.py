"""``blueprints/blueprint.schema.json``: what ``iacgen schema`` prints, for editors that open a shipped blueprint."""

from __future__ import annotations

import json

from iacgen.blueprint.schema import schema


def page(_: str) -> str:
    """The whole file."""
    return json.dumps(schema(), indent=2) + "\n"
