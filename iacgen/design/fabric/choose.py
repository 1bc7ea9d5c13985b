"""Which switch, where nobody chose; and which requests near an impossible one can be met."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

from ...catalog import Switch
from .shape import FabricError, Request, Shape

Ask = Callable[..., tuple[Request, Shape]]


def choose(ask: Ask, switches: Sequence[Switch], vendors: Set[str]) -> tuple[Request, Shape]:
    """The answer with the fastest links, of those the one with the fewest tiers, switches and rack units, of equal ones a switch of
    the adapters' ``vendors``. Raises FabricError."""
    answers, refusals = [], []
    for switch in sorted(switches, key=lambda s: s.id):
        try:
            request, shape = ask(switch)
        except FabricError as error:
            refusals.append((switch, error))
            continue
        leaves = sum(len(group.leaves) for group in shape.groups)
        count = leaves + len(shape.spines) + len(shape.cores)
        tiers = 1 + bool(shape.spines) + bool(shape.cores)
        units = leaves * request.switch.rack_units + (count - leaves) * request.above.rack_units
        answers.append((-max(request.link_gbps.values()), tiers, count, units, switch.vendor not in vendors, switch.id, request, shape))
    if not answers:
        first = next((error for _, error in refusals if error.field not in ("switch", "technology")), None)
        why = "; ".join(str(error) for _, error in refusals) or "the catalog has none of this technology"
        raise first or FabricError(None, f"no switch of the catalog builds this fabric: {why}")
    return min(answers, key=lambda answer: answer[:6])[6:]


def impossible(error: FabricError, ask: Ask, switch: Switch, switches: Sequence[Switch], tiers: int | None) -> FabricError:
    """The error with the nearest requests that work, where it is a limit of size; any other error as it is. ``tiers`` are those asked
    for."""
    if not error.limit:
        return error
    near = list(_near(ask, switch, switches, tiers))
    return FabricError(error.field, f"{error}; possible are {', '.join(near)}" if near else str(error), True)


def _near(ask: Ask, switch: Switch, switches: Sequence[Switch], tiers: int | None) -> Iterator[str]:
    """What would do, one change at a time: three tiers, more oversubscription on leaves of full size, another topology, another
    switch."""
    asked: dict[str, dict[str, Any]] = {"three tiers": {"tiers": None}} if tiers == 2 else {}
    asked |= {f"oversubscription {over}, with units as large as the leaves allow": {"oversubscription": float(over), "unit": None} for over in (2, 4)}
    if "infiniband" in switch.technologies:  # elsewhere a dragonfly has no lanes to keep it from deadlock
        asked["topology dragonfly-plus"] = {"topology": "dragonfly-plus", "unit": None}
    if switch.uplink_gbps is not None:
        asked |= {f"spine {other.id}": {"upper": other} for other in sorted(switches, key=lambda s: s.id) if other != switch}
    yield from (words for words, changes in asked.items() if _works(ask, switch, **changes))
    yield from (f"switch {other.id}" for other in sorted(switches, key=lambda s: s.id) if other != switch and _works(ask, other, unit=None))


def _works(ask: Ask, switch: Switch, **changes: Any) -> bool:
    try:
        ask(switch, **changes)
    except FabricError:
        return False
    return True
