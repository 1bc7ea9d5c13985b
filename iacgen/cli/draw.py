"""``iacgen draw``: one drawing of a cluster, as SVG."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .choices import Drawn, Profile
from .exit import FINDINGS, cannot
from .read import print_findings, run_blueprint

if TYPE_CHECKING:
    from ..design import Design
    from ..pipeline import Run


def draw(path: Path, over: Sequence[Path], sets: Sequence[str], what: Drawn, name: str | None, rail: int, file: Path | None, profile: Profile) -> None:
    """Print the drawing, or write it to a new file; exit 1, with the findings, where there is no design, and after the drawing when
    checks find errors; leaves with 2 where there is no such thing to draw."""
    from ..diagnostics import errors
    from ..output import OutputError, create

    state = run_blueprint(path, over, sets, profile)
    if state.design is None:
        print_findings(state)
        sys.exit(FINDINGS)
    text = _ranks(state, name) if what is Drawn.placement else _text(state.design, what, name, rail)
    if file is None:
        print(text, end="")
    else:
        try:
            create(file, text)
        except OutputError as error:
            cannot(str(error))
        except OSError as error:
            cannot(f"cannot write {file}: {error.strerror}")
    if bad := len(errors(state.findings)):
        print(f"iacgen: check finds {bad} error{'s' * (bad > 1)} in this blueprint", file=sys.stderr)
        sys.exit(FINDINGS)


def _ranks(state: Run, name: str | None) -> str:
    """The drawing of a job's order, as ``generate`` makes it; leaves with 1, with the findings, where there is none."""
    from ..ordering import ordered, picture

    if state.blueprint is None or state.design is None or state.project is None:
        print_findings(state)
        sys.exit(FINDINGS)
    jobs = state.project.jobs
    if name is None and len(jobs) == 1:
        name = next(iter(jobs))
    if name is None or name not in jobs:
        listed = f"there is {', '.join(jobs)}"
        cannot("there is not a job in this blueprint" if not jobs else f"{name} is not a job; {listed}" if name else f"a drawing shows one job: say which with --job; {listed}")
    orderings, _ = ordered(state.design, {name: jobs[name]}, {name: state.blueprint.training[name].nodes})
    return picture(state.design, orderings[0])


def _text(design: Design, what: Drawn, name: str | None, rail: int) -> str:
    from ..drawings import draw_fabric, draw_racks, draw_rail, drawings

    there = [drawing for drawing in drawings(design) if drawing.kind == what.value]
    names = [drawing.name for drawing in there]
    if name is None and there:
        compute = [n for n in names if n in design.fabrics and design.fabrics[n].purpose == "compute"]
        name = (compute or names)[0]
    if name not in names:
        noun = {"fabric": "a fabric with switches", "rail": "a fabric by rails", "racks": "a site with racks"}[what.value]
        cannot(f"{name or 'this cluster'} is not {noun}; there is {', '.join(names)}" if names and name else f"there is not {noun} in this blueprint")
    if what is Drawn.racks:
        return draw_racks(design, name)
    try:
        return draw_rail(design.fabrics[name], rail - 1) if what is Drawn.rail else draw_fabric(design.fabrics[name])
    except ValueError as error:
        cannot(str(error))
