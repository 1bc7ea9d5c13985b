"""One rail: its port of every host, its leaf of every unit, and the way between two hosts through the spines."""

from __future__ import annotations

from iacgen.design.fabric.model import Fabric, pool_of
from iacgen.design.fabric.wiring import port_names

from . import trees
from .levels import plan_of
from .lots import counted, short
from .picture import Picture
from .plan import Plan
from .view import rail as one_rail
from .ways import Way, way


def draw(fabric: Fabric, rail: int) -> Picture:
    """The picture of rail number ``rail``, from 0. Raises ValueError where there is no such rail."""
    shown = plan_of(one_rail(fabric, rail))
    hosts = [column.hosts[0].members[0] for column in shown.columns if column.hosts[0].members]
    lead = way(shown.view, hosts[0], hosts[-1] if len(hosts) > 1 else len(fabric.hosts) - 1) if hosts else None
    ports = sorted({port_names(fabric, pool_of(host))[rail] for host in (fabric.hosts[i] for i in hosts)})
    title = f"{fabric.name}: rail {rail + 1}" + (f", port {' or '.join(ports)} of every host" if ports else "")
    bold = _bundles(shown, lead) if lead else frozenset()
    ends = f"a way from {fabric.hosts[lead.start]} to {fabric.hosts[lead.end]}" if lead and bold else ""
    return trees.draw(shown, title, _figures(shown, lead), bold, ends)


def _figures(shown: Plan, lead: Way | None) -> str:
    view, fabric = shown.view, shown.view.fabric
    parts = [counted(len(fabric.hosts), "host"), counted(len(view.all_leaves), "leaf switch")]
    parts += [f"{counted(len(tier), f'{kind} switch')} within reach" for tier, kind in ((view.spines, "spine"), (view.cores, "core")) if tier]
    if lead and lead.start != lead.end:
        ends = f"{fabric.hosts[lead.start]} to {fabric.hosts[lead.end]}"
        names = ", ".join(short(fabric, fabric.switch_names[i]) for i in lead.switches)
        parts.append(f"{ends}: {counted(len(lead.switches), 'switch')} ({names})" if lead.switches else f"{ends}: no way but through the hosts")
    return " · ".join(parts)


def _bundles(shown: Plan, lead: Way) -> frozenset[int]:
    """The bundles that the way goes along."""
    hosts = {member: i for i, lot in enumerate(shown.lots) if lot.kind == "host" for member in lot.members if member in (lead.start, lead.end)}
    switches = {member: i for i, lot in enumerate(shown.lots) if lot.kind not in ("host", "manager") for member in lot.members if member in lead.switches}
    stops = [hosts[lead.start], *(switches[i] for i in lead.switches), hosts[lead.end]] if lead.switches else []
    steps = {frozenset(step) for step in zip(stops, stops[1:], strict=False)}
    return frozenset(i for i, b in enumerate(shown.bundles) if frozenset((b.a, b.b)) in steps)
