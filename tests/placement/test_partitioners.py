"""Chosen orders against METIS and Scotch, side by side on the same hosts and traffic.

The two get what they lack, a selection of hosts: once the first hosts by name, once the hosts that were chosen here.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from iacgen.placement.choice import choose
from iacgen.placement.cost import cost
from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic
from iacgen.verify import programs

EXPOSED = {"dp": 0.4, "pp": 0.3, "cp": 0.5, "ep": 1.0}
RANDOM, SEED, MOST = 40, 20261201, 2048
METIS, SCOTCH = "metis", "scotch"


def _beside(name: str) -> ModuleType:
    """A module beside this file: the tests are no package."""
    spec = importlib.util.spec_from_file_location(f"iacgen_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


partitioners, scenarios = _beside("partitioners"), _beside("scenarios")
INSTANCES = [*(name for name in scenarios.names() if scenarios.scenario(name).grid.nodes <= MOST), *(f"random-{i}" for i in range(RANDOM))]


def random_instance(seed: int) -> tuple[Tiers, NodeGrid, Traffic]:
    """8 to 240 hosts for a job of any shape: ragged leaves in one to three pods, 1:1 to 7:1, names in order or not, up to a fifth idle."""
    rng = random.Random(seed)
    expert, context, data, pipeline = rng.choice((1, 1, 2, 4, 8)), rng.choice((1, 1, 2)), rng.choice((2, 3, 4, 6, 8)), rng.choice((1, 2, 4, 6, 8))
    grid = NodeGrid(context, data * expert, pipeline, expert)
    width, hosts, leaf = rng.choice((8, 12, 16)), [], 0
    while len(hosts) < grid.nodes * rng.uniform(1.0, 1.2):
        hosts += [leaf] * (width - rng.choice((0, 0, 0, 1, 2)))
        leaf += 1
    hosts = hosts[: max(grid.nodes, int(len(hosts) * rng.uniform(0.9, 1.0)))]
    if rng.random() < 0.5:
        rng.shuffle(hosts)
    labels, over = [np.array(hosts)], [rng.choice((1, 2, 3))]
    if leaf > 3 and rng.random() < 0.6:
        pod = np.arange(leaf) // -(-leaf // rng.choice((2, 3)))
        labels, over = [labels[0], pod[labels[0]]], [1, rng.choice((1, 4, 7))]
    names = ("leaf", "pod")[: len(labels)]
    rates = tuple(np.bincount(of).astype(float) / by for of, by in zip(labels, over, strict=True))
    groups = tuple(tuple(f"{name}{i}" for i in range(len(rate))) for name, rate in zip(names, rates, strict=True))
    tiers = Tiers(names, groups, np.array(labels), rates, np.array((0.95, 0.85, 0.78)[: len(labels) + 1]))
    return tiers, grid, Traffic(rng.choice((1.0, 3.0, 10.0)), rng.choice((0.3, 1.0)), rng.choice((0.1, 0.3, 1.0)), rng.choice((1.0, 10.0)), False)


def instance(name: str) -> tuple[Tiers, NodeGrid, Traffic]:
    if name.startswith("random-"):
        return random_instance(SEED + int(name.removeprefix("random-")))
    it = scenarios.scenario(name)
    return it.tiers, it.grid, it.traffic


def rivals(folder: Path, tiers: Tiers, job: object, hosts: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Orders of the same hosts: METIS by both of its ways, Scotch."""
    metis, scotch = programs.find(METIS), programs.find(SCOTCH)
    assert isinstance(metis, programs.Found) and isinstance(scotch, programs.Found)
    for way in ("kway", "rb"):
        yield f"METIS {way}", partitioners.by_metis(metis.path, folder, tiers, job, hosts, way)
    yield "Scotch", partitioners.by_scotch(scotch.path, folder, tiers, job, hosts)


@pytest.mark.judge(METIS, SCOTCH)
@pytest.mark.parametrize("name", INSTANCES)
def test_neither_partitioner_finds_a_faster_order(name, tmp_path):
    tiers, grid, traffic = instance(name)
    choice, job = choose(tiers, grid, traffic, EXPOSED), partitioners.graph(grid, traffic, EXPOSED)
    ratios = {}
    for selection, hosts in (("first by name", np.arange(grid.nodes)), ("chosen here", np.sort(choice.order))):
        for rival, order in rivals(tmp_path, tiers, job, hosts):
            assert sorted(order) == sorted(hosts)
            ratios[f"{rival}, hosts {selection}"] = cost(tiers, grid, traffic, order, EXPOSED).total_s / choice.cost.total_s
    print(f"{name}: " + ", ".join(f"{who} {ratio:.4f} x" for who, ratio in ratios.items()))
    assert [who for who, ratio in ratios.items() if ratio < 1 - 1e-9] == []


@pytest.mark.judge(METIS, SCOTCH)
def test_both_find_the_obvious_cut(tmp_path):
    """Two pairs of heavy traffic with host names that split each: a rival that could not join them would prove nothing."""
    tiers = Tiers(("leaf",), (("leaf0", "leaf1"),), np.array([[0, 1, 0, 1]]), (np.array([1.0, 1.0]),), np.array([1.0, 0.9]))
    job = partitioners.graph(NodeGrid(1, 2, 2), Traffic(100.0, 0.0, 1.0, 0.0, False), EXPOSED)
    for _, order in rivals(tmp_path, tiers, job, np.arange(4)):
        leaf = tiers.labels[0][order]
        assert leaf[0] == leaf[1] != leaf[2] == leaf[3]


def test_the_random_instances_are_of_many_shapes():
    made = [instance(name) for name in INSTANCES if name.startswith("random-")]
    assert sum(len(tiers.names) == 2 for tiers, _, _ in made) >= 5
    assert sum(grid.expert > 1 for _, grid, _ in made) >= 10
    assert sum(tiers.hosts > grid.nodes for tiers, grid, _ in made) >= 20
    assert len({grid for _, grid, _ in made}) >= 20
