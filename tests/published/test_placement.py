"""Chosen orders and bounds against recorded instances whose optimum an exact solver proved.

The case files lie in tests/cases/placement and in the folder ``placement`` of IACGEN_CASES. What an order costs is counted here from the
file alone, host by host and message by message, as the files' description says.
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iacgen.placement.choice import Choice, choose
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

OWN = Path(__file__).parents[1] / "cases" / "placement"
GIVEN = [Path(folder) / "placement" for folder in filter(None, [os.environ.get("IACGEN_CASES")])]
FILES = {file.stem: file for folder in (OWN, *GIVEN) for file in sorted(folder.glob("c*.json"))}
SAME = 1 + 1e-6
each = pytest.mark.parametrize("name", FILES)


@cache
def case(name: str) -> dict[str, Any]:
    return json.loads(FILES[name].read_text(encoding="utf-8"))


def idle_hosts(name: str) -> list[dict[str, Any]]:
    """In natural order of their names."""
    idle = [node for node in case(name)["topology"]["nodes"] if node["state"] == "idle"]
    return sorted(idle, key=lambda node: [(int(part) if part.isdigit() else -1, part) for part in re.findall(r"\d+|\D+", node["name"])])


@cache
def chosen(name: str) -> Choice:
    topology, job = case(name)["topology"], case(name)["job"]
    uplinks, hosts, size = topology["uplink_Bps_per_direction"], idle_hosts(name), job["bytes_per_node"]
    tiers = Tiers(
        names=tuple(topology["tiers"]),
        groups=tuple(tuple(f"{tier}{i}" for i in range(len(uplinks[tier]))) for tier in topology["tiers"]),
        labels=np.array([[host[tier] for host in hosts] for tier in topology["tiers"]]),
        uplink_Bps=tuple(np.array(uplinks[tier]) for tier in topology["tiers"]),
        flow_Bps=np.array(topology["node_flow_Bps_by_lowest_common_tier"]),
    )
    traffic = Traffic(*(size.get(family, 0.0) for family in ("dp", "cp", "pp", "ep")), job["pp_ring"])
    return choose(tiers, NodeGrid(job["cp_nodes"], job["dp"], job["pp"], job["ep_nodes"]), traffic, job["exposed_fraction"])


def messages(job: dict[str, Any]) -> Iterator[tuple[str, int, int, float]]:
    """(family, sender, receiver, bytes) of every message of a step between virtual nodes."""
    size, row = job["bytes_per_node"], job["cp_nodes"] * job["dp"]
    nodes = row * job["pp"]
    for v in range(nodes):
        for family, ring in (("dp", row), ("cp", job["cp_nodes"])):
            if size.get(family) and ring > 1:
                first = v - v % ring
                yield family, v, first + (v - first + 1) % ring, size[family]
        below = v + row
        if below >= nodes:
            below = v % row if job["pp_ring"] and job["pp"] > 2 else v
        if size.get("pp") and below != v:
            yield "pp", v, below, size["pp"]
            yield "pp", below, v, size["pp"]
        members = job["ep_nodes"]
        if size.get("ep") and members > 1:
            first = v - v % members
            yield from (("ep", v, other, size["ep"] / (members - 1)) for other in range(first, first + members) if other != v)


def count(name: str, hosts: list[dict[str, Any]]) -> float:
    """Exposed seconds with virtual node v on ``hosts[v]``: by family the busiest uplink or the slowest flow, whichever takes longer."""
    topology, job = case(name)["topology"], case(name)["job"]
    flows = topology["node_flow_Bps_by_lowest_common_tier"]
    jam: dict[str, dict[tuple[str, int], float]] = defaultdict(lambda: defaultdict(float))
    slow: dict[str, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    for number, (family, a, b, size) in enumerate(messages(job)):
        crossed = [k for k, tier in enumerate(topology["tiers"]) if hosts[a][tier] != hosts[b][tier]]
        for k in crossed:
            tier = topology["tiers"][k]
            jam[family][tier, hosts[a][tier]] += size / topology["uplink_Bps_per_direction"][tier][hosts[a][tier]]
        slow[family][a if family == "ep" else (a, number)] += size / flows[crossed[-1] + 1 if crossed else 0]
    return sum(job["exposed_fraction"][family] * max(*slow[family].values(), *jam[family].values()) for family in slow)


@each
def test_the_count_agrees_with_what_is_on_record(name):
    by_name = {node["name"]: node for node in case(name)["topology"]["nodes"]}
    assert count(name, [by_name[host] for host in case(name)["best_known"]["placement"]]) == pytest.approx(case(name)["best_known"]["cost_s"], rel=1e-9)
    naive = idle_hosts(name)[: len(case(name)["best_known"]["placement"])]
    assert count(name, naive) == pytest.approx(case(name)["cost_s"]["naive_natural_hostname"], rel=1e-9)


@each
def test_the_chosen_order_costs_no_more_than_the_best_known(name):
    choice, idle = chosen(name), idle_hosts(name)
    assert len(set(choice.order.tolist())) == len(choice.order) == len(case(name)["best_known"]["placement"])
    seconds = count(name, [idle[i] for i in choice.order])
    assert seconds <= case(name)["best_known"]["cost_s"] * SAME
    assert choice.cost.total_s == pytest.approx(seconds, rel=1e-9)


@each
def test_the_bound_is_not_above_the_optimum(name):
    assert chosen(name).bound.seconds <= case(name)["best_known"]["cost_s"] * SAME


@each
def test_the_bound_is_the_optimum_where_the_file_proves_it(name):
    """Above the counted bound on record too: our counting, or trying all orders, comes up to what a solver proved there."""
    assert case(name)["bound"]["proved_optimal"], "the file holds no proof"
    assert chosen(name).bound.seconds == pytest.approx(case(name)["best_known"]["cost_s"], rel=1e-6)
