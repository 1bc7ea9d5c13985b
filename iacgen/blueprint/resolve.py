"""The blueprint with every default written out."""

from __future__ import annotations

from typing import Any

from .cluster import Blueprint


def resolve(blueprint: Blueprint) -> dict[str, Any]:
    """Plain data that ``parse`` reads back as an equal blueprint; what has no value is left out."""
    out = blueprint.model_dump(mode="json", by_alias=True, exclude_none=True)
    for name, job in blueprint.training.items():
        if job.parallel is None:
            out["training"][name]["parallel"] = "auto"
    return out
