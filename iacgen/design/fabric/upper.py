"""Which switch stands above leaves that are no spines, where nobody chose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from ...catalog import Switch
from .shape import FabricError, Request, Shape


def under_any(request: Request, shape: Callable[[Request], Shape], switches: Sequence[Switch]) -> tuple[Request, Shape]:
    """Leaves with uplink ports of their own stand under spines of the same model where two tiers of it do; else under the model with
    which the fewest tiers, switches and rack units do, since a few uplink ports make a poor spine. Raises FabricError."""
    answers, refusal = [], None
    try:
        own = shape(request)
        if not own.cores:
            return request, own
        answers.append((True, len(own.spines) + len(own.cores), 0, request.switch.id, request, own))
    except FabricError as error:
        refusal = error
    for other in switches:
        if request.switch.uplink_gbps in other.ports_by_gbps and other.uplink_gbps is None:
            under = replace(request, upper=other)
            with suppress(FabricError):
                found = shape(under)
                answers.append((bool(found.cores), len(found.spines) + len(found.cores), other.rack_units, other.id, under, found))
    if not answers:
        assert refusal
        raise refusal
    return min(answers, key=lambda answer: answer[:4])[4:]
