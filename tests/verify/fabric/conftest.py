"""Fabrics of every kind, cabled here by hand after the rules of the field, so that the designer is judged by something else than itself.

Sizes are small where small ones show the same: sixteen-port switches make honest three-tier trees.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.verify import programs
from iacgen.verify.fabric.evidence import gather
from iacgen.verify.fabric.plan import Link, Plan
from iacgen.verify.fabric.rules import of_evidence, of_plan, of_settings
from iacgen.verify.fabric.session import Programs


def rails(units=1, rails=8, hosts=32, spines=4, parallel=8, radix=64, absent=0):
    """Rail-optimised: adapter r of every host of a unit on leaf r of that unit, each leaf with ``parallel`` links to every spine.

    The last ``absent`` hosts are missing; their ports stay free.
    """
    leaves = [f"su{u}-leaf{r}" for u in range(units) for r in range(rails)]
    tops = [f"spine{s}" for s in range(spines)]
    present = [(u, j) for u in range(units) for j in range(hosts)][: units * hosts - absent]
    links = [Link(f"gpu{u * hosts + j:04d} mlx5_{r}", 1, f"su{u}-leaf{r}", j + 1) for u, j in present for r in range(rails)]
    order = tuple(link.a for link in links)
    up = spines * parallel
    links += [
        Link(leaf, radix - up + n + 1, tops[n // parallel], i * parallel + n % parallel + 1) for i, leaf in enumerate(leaves) for n in range(up)
    ]  # fmt: skip
    return Plan(order, tuple(filter(None, (tuple(leaves), tuple(tops)))), dict.fromkeys([*leaves, *tops], radix), tuple(links), order)


def cubic(radix, pods=None):
    """Three tiers at 1:1: spine number a of every pod owns its own cores and has m links to each of them."""
    half, pods = radix // 2, pods or radix
    m = max(d for d in range(1, half + 1) if half % d == 0 and d * pods <= radix)
    leaf, spine = (lambda p, n: f"pod{p:02d}-leaf{n}"), (lambda p, n: f"pod{p:02d}-spine{n}")
    tiers = (
        tuple(leaf(p, n) for p in range(pods) for n in range(half)),
        tuple(spine(p, n) for p in range(pods) for n in range(half)),
        tuple(f"core{a}-{c}" for a in range(half) for c in range(half // m)),
    )
    links = [Link(f"gpu{(p * half + n) * half + j:05d} mlx5_0", 1, leaf(p, n), j + 1) for p in range(pods) for n in range(half) for j in range(half)]
    order = tuple(link.a for link in links)
    links += [Link(leaf(p, n), half + a + 1, spine(p, a), n + 1) for p in range(pods) for n in range(half) for a in range(half)]
    links += [Link(spine(p, a), half + n + 1, f"core{a}-{n // m}", p * m + n % m + 1) for p in range(pods) for a in range(half) for n in range(half)]
    return Plan(order, tiers, dict.fromkeys((name for tier in tiers for name in tier), radix), tuple(links), order)


def dragonfly(p, a, h, scattered=True):
    """a h + 1 groups of ``a`` routers of ``p`` hosts, one link between any two groups; ranks scattered by a digest of the hosts' names."""
    groups = a * h + 1
    router = lambda g, n: f"g{g:02d}-r{n}"  # noqa: E731
    links = [Link(f"gpu{(g * a + n) * p + x + 1:04d} mlx5_0", 1, router(g, n), x + 1) for g in range(groups) for n in range(a) for x in range(p)]
    order = tuple(link.a for link in links)
    links += [Link(router(g, n), p + far, router(g, far), p + n + 1) for g in range(groups) for n in range(a) for far in range(n + 1, a)]
    for g in range(groups):
        for to in range(g + 1, groups):
            out, back = to - g - 1, (g - to - 1) % groups  # link number n of a group leads to the group n + 1 further on
            links.append(Link(router(g, out // h), p + a + out % h, router(to, back // h), p + a + back % h))
    routers = tuple(router(g, n) for g in range(groups) for n in range(a))
    ranks = tuple(sorted(order, key=lambda name: hashlib.sha256(name.split()[0].encode()).digest())) if scattered else order
    return Plan(order, (routers,), dict.fromkeys(routers, p + a - 1 + h), tuple(links), ranks, "dragonfly")


def designed(count, system="dgx-h100", pool="gpu", grow_to=None, others=None, **fabric):
    """The compute fabric of ``count`` hosts of one pool as iacgen designs it; ``others`` are further pools: name to (system, count)."""
    pools = {pool: (system, count)} | (others or {})
    nodes = {name: {"site": "hall", "system": kind, "count": many} for name, (kind, many) in pools.items()}
    if grow_to:
        nodes[pool]["grow_to"] = grow_to
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"}}, "nodes": nodes,
        "fabrics": {"compute": {"site": "hall", "purpose": "compute", "connects": [*nodes], "technology": "infiniband", "switch": "qm9700", **fabric}},
    }  # fmt: skip
    blueprint, findings = parse(data)
    assert not findings
    made, findings = design(blueprint)
    assert made, findings
    return made.fabrics["compute"]


def small(radix, count, **wanted):
    """The same, were its switch one of so many ports."""
    known = catalog.switch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "switch", lambda name: known(name).model_copy(update={"ports_by_gbps": {200: 2 * radix, 400: radix}}))
        return designed(count, **wanted)


def exchange(plan, one, other):
    """Two cables of which the upper ends were exchanged, each named by its lower end."""
    i, j = (next(n for n, link in enumerate(plan.links) if (link.a, link.a_port) == end) for end in (one, other))
    links = list(plan.links)
    links[i], links[j] = links[i]._replace(b=links[j].b, b_port=links[j].b_port), links[j]._replace(b=links[i].b, b_port=links[i].b_port)
    return replace(plan, links=tuple(links))


def without(plan, switch):
    """The same fabric with one switch that nobody cabled."""
    return replace(plan, links=tuple(link for link in plan.links if switch not in (link.a, link.b)))


class Renumbered(Plan):
    """A plan whose GUIDs lie in another order, as on machines that were not bought in the order of their places."""

    @property
    def guids(self):
        return self.__dict__["other_guids"]


def renumbered(plan, seed):
    """The same fabric with the GUIDs of its switches and of its adapters shuffled."""
    other = Renumbered(**{field.name: getattr(plan, field.name) for field in fields(plan)})
    dice, guids = random.Random(seed), {}
    for names in (plan.switches, plan.adapters):
        guids |= dict(zip(names, dice.sample([plan.guids[name] for name in names], len(names)), strict=True))
    other.__dict__["other_guids"] = guids
    return other


def examine(plan, settings, wired=None, within_s=120.0):
    """(evidence, slugs of the findings, the findings) of real opensm on ``wired``, which should be ``plan``."""
    seen = gather(wired or plan, settings, Programs(**programs.fabric_programs()), within_s)
    findings = [*of_plan(wired or plan, ()), *of_settings(plan, settings, ()), *of_evidence(plan, settings, seen, ())]
    return seen, {f.slug for f in findings}, findings


@pytest.fixture(scope="session")
def fabrics():
    """The functions above, for the tests of this folder: they are no package."""
    return SimpleNamespace(rails=rails, cubic=cubic, dragonfly=dragonfly, designed=designed, small=small, exchange=exchange, without=without, renumbered=renumbered, examine=examine)
