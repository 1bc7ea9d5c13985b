"""Ask SimGrid: what do a ring all-reduce and an all-to-all take over the routes that opensm chose, and was that foreseen?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

from .. import fabric as opensm
from .. import programs
from ..findings import finding
from ..judging import NOT_APPLICABLE, Outcome, probe, timed
from ..verdict import Verdict
from .collectives import Collective, all_to_all, case, predicted_s, ring
from .marks import mark, ring_mark
from .plan import Plan
from .routes import Routes
from .tree import ListError

READS: tuple[str, ...] = ()  # nothing of its own: the routes are those of the judge opensm
NEAR_THEORY = 1.02
NEAR_PREDICTION = 0.05
MOST = 9_000
"""Adapters up to which flows are sent: SimGrid keeps a table of all pairs, half a gigabyte at 8,192 adapters, four times that at 16,384."""
_LIMIT_S = 600.0


def applies(tree: Path) -> bool:
    """True when the judge ``opensm`` has a fabric to route."""
    return opensm.applies(tree)


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on the compute fabrics of ``tree``; the others carry no collectives."""

    def asked() -> Outcome:
        fabrics = [fabric for fabric in opensm.infiniband(project) if fabric.purpose == "compute"]
        if not fabrics:
            return NOT_APPLICABLE
        found, routed = programs.find("simgrid"), programs.find("opensm")
        for lacking in (found, routed):
            if isinstance(lacking, programs.Missing):
                return "missing", [finding("simgrid-not-judged", str(lacking))], None
        assert isinstance(found, programs.Found)
        findings = [fault for fabric in fabrics for fault in _fabric(tree, project, fabric, found.path)]
        return opensm.outcome(findings, found.version)

    return timed("simgrid", "simgrid", asked)


def simulated_s(plan: Plan, routes: Routes, collective: Collective, python: Path) -> tuple[float | None, str]:
    """(seconds of the collective as SimGrid has them, None when it does not say; its words)."""
    with tempfile.TemporaryDirectory(prefix="iacgen-") as work:
        file = Path(work) / "case.json"
        file.write_text(json.dumps(case(plan, routes, collective)), encoding="utf-8")
        answer, said = probe(python, "simgrid_flows.py", str(file), env={}, timeout=_LIMIT_S)
    return (sum(answer["seconds"]) * collective.weight if answer else None), said


def judge_collectives(plan: Plan, routes: Routes, python: Path, path: BlueprintPath) -> Iterator[Diagnostic]:
    """A ring in rank order crosses a tree with one host's flows from a leaf, whatever its oversubscription; an all-to-all pays for that."""
    wanted = mark(plan)
    for collective, allowed in ((ring(plan), ring_mark(plan) if plan.family == "tree" else wanted.flows), (all_to_all(plan), wanted.flows)):
        seconds, said = simulated_s(plan, routes, collective, python)
        if seconds is None:
            yield finding("simgrid-not-judged", f"SimGrid gave no time for the {collective.name}: {said[-200:]}", path)
            continue
        limit = NEAR_THEORY * collective.theory_s * max(1.0, allowed * (1.0 if allowed == 1 else plan.host_gbps / plan.trunk_gbps))
        if seconds > limit:
            times = f"takes {1e3 * seconds:.4g} ms for 1 GB a rank; its adapters need {1e3 * collective.theory_s:.4g}, {wanted.why} at most {1e3 * limit:.4g}"
            yield finding("slow-collective", f"a {collective.name} {times}", path)
        foreseen = predicted_s(plan, routes, collective)
        if abs(seconds - foreseen) > NEAR_PREDICTION * foreseen:
            yield finding("prediction-off", f"a {collective.name} takes {1e3 * seconds:.4g} ms, and the count of flows on the busiest link says {1e3 * foreseen:.4g}", path)


def _fabric(tree: Path, project: Any, fabric: Any, python: Path) -> Iterator[Diagnostic]:
    try:
        for subnet in opensm.subnets(tree, project, fabric):
            yield from opensm.of_subnet(fabric, subnet, _subnet(subnet, fabric.origin, python))
    except ListError as error:
        yield finding("malformed-cable-list", str(error), fabric.origin)


def _subnet(subnet: opensm.Subnet, path: BlueprintPath, python: Path) -> Iterator[Diagnostic]:
    _, plan, wired, given = subnet
    if len(plan.adapters) > MOST:
        yield finding("fabric-judged-in-part", f"{len(plan.adapters):,} adapters: no flows are sent over the routes of more than {MOST:,}", path, severity="warning")
    elif len(plan.order) > 1:
        seen = opensm.examined(plan, wired, given)
        if seen.routes is None or seen.routes.unreachable or seen.routes.loops:
            yield finding("slow-collective", "opensm has set no routes to send flows over; see the judge opensm", path)
        else:
            yield from judge_collectives(plan, seen.routes, python, path)
