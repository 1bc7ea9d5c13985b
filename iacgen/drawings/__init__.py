"""Drawings as SVG: a fabric by tiers, one of its rails, the racks of a hall, the ranks of a job. Each module lays out one picture, a template prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iacgen.design.fabric.model import Fabric
from iacgen.design.model import Design

from . import captions, dragonflies, placements, racks, rails, trees
from .levels import plan_of
from .picture import svg
from .placements import Leaf, Pod, Seat
from .view import whole

__all__ = ["Drawing", "Leaf", "Pod", "Seat", "draw_fabric", "draw_placement", "draw_racks", "draw_rail", "drawings", "inline"]


@dataclass(frozen=True)
class Drawing:
    """A drawing that there is of a cluster: its path in the output folder, what it shows, whether of a ``fabric``, a ``rail`` or
    ``racks``, and the name of the fabric or the site."""

    path: str
    what: str
    kind: str
    name: str

    def text(self, design: Design) -> str:
        """The SVG document."""
        if self.kind == "racks":
            return draw_racks(design, self.name)
        return draw_rail(design.fabrics[self.name]) if self.kind == "rail" else draw_fabric(design.fabrics[self.name])


def drawings(design: Design) -> Iterator[Drawing]:
    """Every drawing of a cluster, without drawing it: of the fabrics that show their switches, of their rails, of the halls."""
    for name, fabric in sorted(design.fabrics.items()):
        if fabric.tiers:
            yield Drawing(f"fabric/{name}/fabric.svg", f"fabric {name} by tiers", "fabric", name)
            if fabric.by_rail:
                yield Drawing(f"fabric/{name}/rail.svg", f"rail 1 of {name}", "rail", name)
    for site in sorted(design.facilities):
        yield Drawing(f"facility/{site}.svg", f"racks of {site}", "racks", site)


def inline(document: str) -> str:
    """The ``svg`` element of a drawing for an HTML page that has the style sheet of drawings once: without its XML declaration and without
    the sheet, which would else hold for the whole page, as often as there are drawings on it. A drawing has no ids that could clash."""
    head, opened, rest = document.partition("<style>\n")
    _, closed, tail = rest.partition("</style>\n")
    assert opened and closed, "every drawing brings its style sheet"
    return head[head.index("<svg") :] + tail


def draw_fabric(fabric: Fabric) -> str:
    """All of a fabric. Raises ValueError for one of a cloud, which shows no switch."""
    if not fabric.tiers:
        raise ValueError(f"{fabric.name} is a cloud's, which shows no switches")
    if fabric.topology.startswith("dragonfly") and fabric.pods:
        return svg(dragonflies.draw(fabric))
    return svg(trees.draw(plan_of(whole(fabric)), captions.headline(fabric), captions.figures(fabric)))


def draw_rail(fabric: Fabric, number: int = 0) -> str:
    """Rail ``number``, from 0. Raises ValueError where the fabric is not by rails or has fewer."""
    return svg(rails.draw(fabric, number))


def draw_racks(design: Design, site: str) -> str:
    """The racks of a site. Raises KeyError for one without."""
    return svg(racks.draw(design, design.facilities[site]))


def draw_placement(title: str, figures: str, pods: Sequence[Pod], stages: int, replicas: int) -> str:
    """The hosts of a job's pool by switch group, in the hue of their ``stages`` and the shade of their data ``replicas``."""
    return svg(placements.draw(title, figures, pods, stages, replicas))
