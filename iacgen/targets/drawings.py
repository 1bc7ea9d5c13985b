"""fabric/<name>/*.svg and facility/<site>.svg: the pictures."""

from __future__ import annotations

from iacgen.drawings import drawings
from iacgen.placement.project import Project


def render(project: Project) -> dict[str, str]:
    """The drawings of every fabric that shows its switches, and of every hall."""
    return {drawing.path: drawing.text(project.design) for drawing in drawings(project.design)}
