"""``iacgen place``: the order of each job's ranks, what it costs and how far from the best it is."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .choices import Profile
from .exit import CLEAN, FINDINGS, Format, cannot
from .read import print_findings, run_blueprint

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..pipeline import Run
    from ..training import Job


@dataclass(frozen=True)
class Asked:
    """What the options say."""

    blueprint: Path
    over: Sequence[Path] = ()
    sets: Sequence[str] = ()
    job: str | None = None
    max_ratio: float | None = None
    format: Format = Format.text
    profile: Profile = Profile.production


def place(asked: Asked) -> NoReturn:
    """Print it; exit 1 when the blueprint has errors, a job finds no place, or one costs more than ``max_ratio`` times its bound."""
    from ..diagnostics import errors
    from ..ordering import data, ordered, text

    state = run_blueprint(asked.blueprint, asked.over, asked.sets, asked.profile, placed=False)
    if errors(state.findings) or state.design is None or state.blueprint is None:
        _refuse(state, asked.format)
    jobs = _jobs(state, asked.job)
    orderings, findings = ordered(state.design, jobs, {name: state.blueprint.training[name].nodes for name in jobs})
    if findings:
        _refuse(state, asked.format, findings)
    if asked.format is Format.json:
        print(json.dumps(data(state.design.name, orderings), indent=1))
    else:
        for line in text(orderings):
            print(line)
    above = [o for o in orderings if asked.max_ratio is not None and o.placement.ratio > asked.max_ratio]
    for o in above:
        print(f"iacgen: {o.job.name} costs {o.placement.ratio:.4f} times its bound; {asked.max_ratio:g} times is the most that was asked for", file=sys.stderr)
    sys.exit(FINDINGS if above else CLEAN)


def _jobs(state: Run, name: str | None) -> Mapping[str, Job]:
    """All jobs, or the one that was asked for."""
    if not state.jobs:
        cannot("there is no job in this blueprint: nothing to place")
    if name is not None and name not in state.jobs:
        cannot(f"there is no job {name}; there is {', '.join(state.jobs)}")
    return state.jobs if name is None else {name: state.jobs[name]}


def _refuse(state: Run, format: Format, found: Sequence[Diagnostic] = ()) -> NoReturn:
    """The findings, in the form of ``check``, in place of an order."""
    from ..diagnostics.json import render
    from ..diagnostics.report import gather

    state = replace(state, findings=(*state.findings, *found))
    if format is Format.json:
        print(render([gather(state.findings, state.document, state.suppressed)], state.profile))
    else:
        print_findings(state)
    print(f"{state.document.name}: no rank was placed", file=sys.stderr)
    sys.exit(FINDINGS)
