"""All that is learnt of one fabric from one session: what opensm logged, what was found, where the routes and lanes lead."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from . import cycles, discovered, ibdmchk, lanes, routes
from .congestion import Shifts, shifts
from .netlist import netlist
from .plan import Plan
from .session import LANES, Live, Programs, SimulatorError, session
from .settings import Settings

MOST = 17_000
"""Adapters up to which a subnet is brought up and its routes are walked: at 16,384 in three tiers that takes three minutes on two cores,
six on busy ones, and 2.4 GB here, of which 1.7 are pages of the mapped dump; opensm has 1 GB. ibsim has tables of 30,720 LIDs."""
HEARD = 9_000
"""Adapters up to which ibdmchk is asked, which walks pair by pair: a minute and a half at 8,192, four times that at twice as many."""
LANED = 1_500_000
"""Pairs of a leaf and an adapter up to which the administration is asked for lanes: 1.3 million at 2,550 hosts of a dragonfly take two
minutes."""
_UP_S, _ADAPTERS_A_SECOND = 120.0, 40  # the time for SUBNET UP, and what it grows by: 16,384 adapters take a minute and a half


@dataclass(frozen=True)
class Evidence:
    """``trouble``: a program that did not do its part. ``routes``, ``lanes``, ``opinion`` and ``congestion`` are None where they were not
    asked for, or nothing was there to read. ``cycle`` is (lane, channels); ``laned``: lane by lane, else as if all were one.
    ``left``: in words, what nobody looked at because the fabric is too large for it."""

    up: bool
    seconds: float
    log: str
    trouble: str | None = None
    wiring: discovered.Wiring | None = None
    routes: routes.Routes | None = None
    cycle: tuple[int, list[tuple[str, int]]] | None = None
    laned: bool = False
    opinion: ibdmchk.Opinion | None = None
    congestion: Shifts | None = None
    keys: dict[str, tuple[int, ...]] | None = None
    groups: str = ""
    left: tuple[str, ...] = ()

    @cached_property
    def errors(self) -> list[str]:
        """The lines that opensm itself calls errors, without time and thread."""
        return [line.split("] ", 1)[-1].split("-> ", 1)[-1].strip() for line in self.log.splitlines() if " ERR " in line]


_KNOWN: dict[str, Evidence] = {}
_REMEMBERED = 24  # of a fabric by rails each rail is one


def gather(plan: Plan, settings: Settings, programs: Programs, within_s: float | None = None) -> Evidence:
    """One session on the wiring of ``plan``, examined. The same question is answered from memory, for SimGrid asks it after opensm.

    Up to :data:`MOST` adapters. What a fabric is too large for is left out, and told in the evidence.
    """
    within_s = within_s or max(_UP_S, len(plan.adapters) / _ADAPTERS_A_SECOND)
    key = hashlib.sha256(f"{netlist(plan)}{plan.order}{settings}{within_s}".encode()).hexdigest()
    if key not in _KNOWN:
        with tempfile.TemporaryDirectory(prefix="iacgen-fabric-") as work:
            evidence = _gather(plan, settings, programs, Path(work), within_s)
        while len(_KNOWN) >= _REMEMBERED:
            del _KNOWN[next(iter(_KNOWN))]
        _KNOWN[key] = evidence
    return _KNOWN[key]


def _gather(plan: Plan, settings: Settings, programs: Programs, work: Path, within_s: float) -> Evidence:
    seen = Evidence(False, 0.0, "")
    try:
        with session(plan, settings, work, programs, within_s) as live:
            seen = Evidence(live.up, live.seconds, live.log)
            if not live.up:
                return seen
            seen = _walked(live, replace(seen, **_asked(live, plan, programs)), plan, settings)
            seen = replace(seen, log=live.log)
    except (SimulatorError, lanes.ProbeError) as error:
        return replace(seen, trouble=str(error))
    if len(plan.adapters) > HEARD:
        return replace(seen, left=(*seen.left, f"ibdmchk was not asked for its second opinion above {HEARD:,} adapters"))
    if seen.left:  # without the lanes it would take lanes that break a circle for one
        return replace(seen, left=(*seen.left, "ibdmchk, which needs them, neither"))
    return replace(seen, opinion=ibdmchk.ask(work, programs.ibdmchk))


def _asked(live: Live, plan: Plan, programs: Programs) -> dict[str, object]:
    """What the diagnostic tools see. Raises SimulatorError, ProbeError."""
    scan = live.ask(programs.ibnetdiscover)
    if not scan.ok:
        raise SimulatorError(f"ibnetdiscover: {(scan.err or scan.out).strip()[-200:]}")
    found = discovered.parse(scan.out)
    here = [name for name in plan.adapters if name in found.guids]
    if plan.adapters[0] not in found.guids:
        raise SimulatorError(f"ibnetdiscover does not see the manager's own port, {plan.adapters[0]}")
    numbers = lanes.lids(live, here, found)
    lanes.probe(live, numbers[0], numbers)
    return {"wiring": found, "keys": dict(zip(here, lanes.keys(live.folder), strict=True)), "groups": live.ask(programs.saquery, "-g").out}


def _walked(live: Live, seen: Evidence, plan: Plan, settings: Settings) -> Evidence:
    """Routes, congestion and cycles. Lanes are asked for only where one lane alone has a cycle: without one, no lane has."""
    assert seen.wiring is not None
    walked = routes.load(live.folder / "opensm-lfts.dump", seen.wiring)
    order = [name for name in plan.order if name in walked.index]
    seen = replace(seen, routes=walked, congestion=shifts(walked, order), cycle=cycles.cycle(walked))
    if seen.cycle is None or not settings.lanes or not (live.folder / LANES).exists():
        return seen
    if len(walked.leaves) * len(walked.adapters) > LANED:
        return replace(seen, cycle=None, left=("the lanes of so many paths were not asked for, without which links wait for each other in a circle",))
    numbers = lanes.lids(live, walked.adapters, seen.wiring)
    manager = numbers[walked.index[plan.adapters[0]]]
    pairs = lanes.pairs_of(walked)
    lanes.probe(live, manager, numbers, pairs)
    try:
        by_pair = lanes.lanes(live.folder, walked, pairs)
    except ValueError as error:
        return replace(seen, trouble=str(error))
    ibdmchk.write_levels(live.folder, seen.wiring, numbers, by_pair)
    return replace(seen, cycle=cycles.cycle(walked, by_pair), laned=True)
