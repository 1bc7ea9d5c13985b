"""report.md: the design on a page, for a reviewer who has five minutes."""

from __future__ import annotations

from iacgen.drawings import drawings
from iacgen.placement.project import Project
from iacgen.render import render as render_template

from . import cluster, halls, jobs
from .assumptions import assumptions

__all__ = ["render"]


def render(project: Project) -> dict[str, str]:
    """``report.md`` at the root of the tree."""
    design = project.design
    text = render_template(
        "report/report.md.j2",
        name=project.name,
        purpose=design.descriptions.get(()),
        purposes=cluster.purposes(design),
        glance=cluster.glance(project),
        nodes=cluster.nodes(design),
        fabrics=cluster.fabrics(design),
        growth=cluster.growth(design),
        sites=cluster.sites(design),
        halls=halls.facts(design),
        counted=cluster.counted(design),
        drawings=[(drawing.what, drawing.path) for drawing in drawings(design)],
        storage=cluster.storage(design),
        jobs=[jobs.section(job, project.placements[name], design) for name, job in sorted(project.jobs.items())],
        assumptions=assumptions(project),
    )
    return {"report.md": text}
