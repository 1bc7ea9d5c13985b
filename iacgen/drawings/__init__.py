"""Drawings of a fabric, of one of its rails, and of the racks of a hall, as SVG."""

from __future__ import annotations

from iacgen.design.fabric.model import Fabric

from . import captions, dragonflies, rails, trees
from .levels import plan
from .picture import svg
from .view import whole


def draw_fabric(fabric: Fabric) -> str:
    if fabric.topology.startswith("dragonfly") and fabric.pods:
        return svg(dragonflies.draw(fabric))
    return svg(trees.draw(plan(whole(fabric)), captions.headline(fabric), captions.figures(fabric)))


def draw_rail(fabric: Fabric, number: int = 0) -> str:
    return svg(rails.draw(fabric, number))
