"""``iacgen schema``: the blueprint language for editors."""

from __future__ import annotations

import json


def schema() -> None:
    """Print the JSON Schema."""
    from ..blueprint.schema import schema as language

    print(json.dumps(language(), indent=2))
