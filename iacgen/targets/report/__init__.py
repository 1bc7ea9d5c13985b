"""report.md and report.html: the design on a page, for a reviewer who has five minutes. Both are printed from the same words."""

from __future__ import annotations

from iacgen.drawings import drawings
from iacgen.placement.project import Project
from iacgen.render import render as render_template

from . import cluster, halls, jobs
from .assumptions import assumptions
from .minute import minute
from .pictures import figures

__all__ = ["render"]


def render(project: Project) -> dict[str, str]:
    """``report.md`` and ``report.html`` at the root of the tree."""
    found = words(project)
    return {
        "report.md": render_template("report/report.md.j2", **found),
        "report.html": render_template("report/report.html.j2", **found, figures=figures(project.design)),
    }


def words(project: Project) -> dict[str, object]:
    """All that the page says, without a mark of any language."""
    design = project.design
    return {
        "name": project.name,
        "purpose": design.descriptions.get(()),
        "purposes": cluster.purposes(design),
        "minute": minute(project),
        "glance": cluster.glance(project),
        "nodes": cluster.nodes(design),
        "fabrics": cluster.fabrics(design),
        "growth": cluster.growth(design),
        "sites": cluster.sites(design),
        "halls": halls.facts(design),
        "counted": cluster.counted(design),
        "drawings": [(drawing.what, drawing.path) for drawing in drawings(design)],
        "storage": cluster.storage(design),
        "jobs": [jobs.section(job, project.placements[name], design) for name, job in sorted(project.jobs.items())],
        "assumptions": assumptions(project),
    }
