"""Subnets: switches that cables join. Rails without spines, and the planes of a fabric, are subnets of their own."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from .plan import Plan


def parts(plan: Plan) -> list[Plan]:
    """A plan for each set of switches that cables join; the plan itself where that is one. An adapter of several is in each."""
    graph = nx.Graph()
    graph.add_nodes_from(plan.switches)
    graph.add_edges_from((link.a, link.b) for link in plan.links if link.a in plan.ports)
    joined = [frozenset(some) for some in nx.connected_components(graph)]
    return [plan] if len(joined) == 1 else [_part(plan, some) for some in sorted(joined, key=min)]


def _part(plan: Plan, switches: frozenset[str]) -> Plan:
    links = tuple(link for link in plan.links if link.b in switches)
    here = {link.a for link in links}
    return replace(
        plan,
        adapters=tuple(name for name in plan.adapters if name in here),
        tiers=tuple(kept for tier in plan.tiers if (kept := tuple(name for name in tier if name in switches))),
        ports={name: count for name, count in plan.ports.items() if name in switches},
        links=links,
        order=tuple(name for name in plan.order if name in here),
    )
