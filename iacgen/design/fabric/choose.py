"""Which switch, where nobody chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from ... import catalog
from ...catalog import Switch
from .shape import FabricError, Request, Shape

Ask = Callable[[Switch], tuple[Request, Shape]]
SPEAKS = {"infiniband": {"infiniband"}, "roce": {"roce", "ethernet"}, "ethernet": {"ethernet"}}


def speakers(technology: str) -> list[Switch]:
    """The switches of the catalog that can carry a fabric of this technology."""
    return [s for s in map(catalog.switch, catalog.ids("switches")) if SPEAKS[technology] & set(s.technologies)]


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
        why = "; ".join(f"{switch.id}: {error}" for switch, error in refusals) or "the catalog has none of this technology"
        raise first or FabricError(None, f"no switch of the catalog builds this fabric: {why}", any(error.limit for _, error in refusals))
    return min(answers, key=lambda answer: answer[:6])[6:]
