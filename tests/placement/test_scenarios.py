"""Fourteen situations from 16 hosts to 13,022: the chosen order against a time that no order beats, and against what naive orders cost.

The situations are rebuilt from descriptions (cases/placement_scenarios.yaml), with what naive orders cost in instances of the same
description as another implementation measured them: where ours are near, the rebuilding is faithful.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from iacgen.placement.choice import Choice, choose
from iacgen.placement.cost import cost

SAME = 1 + 1e-6
MUCH = 1.40  # how far a naive order may be from what was measured on another instance of the same description


def _reader() -> ModuleType:
    """scenarios.py beside this file: the tests are no package."""
    spec = importlib.util.spec_from_file_location("iacgen_tests_scenarios", Path(__file__).with_name("scenarios.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


scenarios = _reader()
each = pytest.mark.parametrize("name", scenarios.names())


@cache
def chosen(name: str) -> Choice:
    it = scenarios.scenario(name)
    return choose(it.tiers, it.grid, it.traffic, it.exposed)


def seconds(name: str, order: np.ndarray) -> float:
    it = scenarios.scenario(name)
    return cost(it.tiers, it.grid, it.traffic, order, it.exposed).total_s


def mixed_rows(name: str, order: np.ndarray) -> int:
    """Pipeline stages whose hosts are of two types."""
    it = scenarios.scenario(name)
    rows = it.kinds[order].reshape(it.grid.pipeline, it.grid.row)
    return int((rows.min(axis=1) != rows.max(axis=1)).sum())


@each
def test_the_order_lies_at_the_bound(name):
    choice, allowed = chosen(name), scenarios.scenario(name).within
    ratio = choice.cost.total_s / choice.bound.seconds
    print(f"{name}: {choice.cost.total_s:.6f} s = {ratio:.4f} x the bound ({choice.bound.method}: {choice.bound.why})")
    assert 1 / SAME <= ratio <= allowed


@each
def test_the_order_is_one_host_for_each_virtual_node(name):
    it, order = scenarios.scenario(name), chosen(name).order
    assert len(set(order.tolist())) == len(order) == it.grid.nodes
    assert 0 <= order.min() and order.max() < len(it.names)


@each
def test_no_naive_order_is_faster(name):
    it, choice = scenarios.scenario(name), chosen(name)
    assert choice.by_name.total_s == pytest.approx(seconds(name, it.by_names()), rel=1e-9)
    for order in (it.by_names(), it.by_letters(), it.by_fabric(), it.by_chance(1), it.by_chance(2)):
        assert choice.cost.total_s <= seconds(name, order) * (1 + 1e-9)


@pytest.mark.parametrize("name", [n for n in scenarios.names() if "names" in scenarios.scenario(n).naive])
def test_naive_orders_cost_about_what_was_measured_on_the_same_description(name):
    it, least = scenarios.scenario(name), chosen(name).bound.seconds
    for word, order in (("names", it.by_names()), ("letters", it.by_letters()), ("random", it.by_chance())):
        ratio = seconds(name, order) / least
        assert it.naive[word] / MUCH <= ratio <= it.naive[word] * MUCH, f"{word}: {ratio:.2f} x the bound, measured {it.naive[word]}"


def test_no_stage_mixes_types_of_gpus_where_none_needs_to():
    it = scenarios.scenario("s10")
    assert mixed_rows("s10", it.by_names()) == it.naive["rows_names"]
    assert mixed_rows("s10", it.by_chance()) == it.naive["rows_random"]
    assert mixed_rows("s10", it.by_fabric()) == it.naive["rows_fabric"]
    assert mixed_rows("s10", chosen("s10").order) == 0


def test_expert_groups_of_trays_stay_in_their_racks():
    it = scenarios.scenario("s08")
    groups = it.tiers.joined[chosen("s08").order].reshape(-1, it.grid.expert)
    assert (groups == groups[:, :1]).all()


@pytest.mark.parametrize(("name", "up", "nodes"), [("s02", 127, 120), ("s03", 119, 112), ("s04", 536, 512), ("s07", 231, 128), ("s08", 576, 512), ("s10", 96, 80), ("s12", 12892, 12288)])
def test_the_situations_have_the_hosts_of_their_descriptions(name, up, nodes):
    it = scenarios.scenario(name)
    assert (it.tiers.hosts, len(set(it.names)), it.grid.nodes) == (up, up, nodes)
