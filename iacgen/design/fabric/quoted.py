"""A fabric held against the figures of an offer or a published table."""

from __future__ import annotations

from collections.abc import Mapping

from .model import Fabric


def figures(fabric: Fabric, gpus: int) -> dict[str, int]:
    """What offers state of a fabric, by the names that a blueprint uses; ``gpus`` are those of the hosts on it."""
    cables = fabric.cables
    return {
        "nodes": len(fabric.hosts),
        "gpus": gpus,
        "tiers": len(fabric.tiers),
        "switches": fabric.switches,
        "leaf": len(fabric.leaves),
        "spine": len(fabric.spines),
        "core": len(fabric.cores),
        "host_cables": cables.host + cables.manager,
        "leaf_spine_cables": cables.leaf_spine,
        "spine_core_cables": cables.spine_core,
    }


def differences(fabric: Fabric, gpus: int, quoted: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """(figure, as quoted, as designed) for each that differs. Raises KeyError for a figure that no offer states."""
    designed = figures(fabric, gpus)
    return [(name, value, designed[name]) for name, value in quoted.items() if value != designed[name]]
