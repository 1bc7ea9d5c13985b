"""The order that placement emits against other orders of the same hosts' names, in the time that SimGrid has for the job's own exchanges.

SimGrid knows flows, links and routes, and nothing of placement's model of cost. Each family of exchanges is a phase, as in that model: all
data rings at once, all context rings at once, all pipelines at once with activations and their gradients against each other. Two kinds of routes:
those that real opensm sets, one way for each destination, and on the tree also an even spread over all ways, as adaptive routing has it.
Predictions are made with the whole rate of the adapters: the model's shares by tier stand for ways that collide, which SimGrid has not
where flows are spread, and has by itself where they are not.
"""

import json
import random
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from iacgen.pipeline import run
from iacgen.placement import place
from iacgen.placement.cost import cost
from iacgen.placement.tiers import of_fabric as tiers_of
from iacgen.verify import programs
from iacgen.verify.fabric.collectives import Collective
from iacgen.verify.fabric.plan import of_fabric
from iacgen.verify.fabric.settings import planned
from iacgen.verify.fabric.simgrid import simulated_s
from iacgen.verify.judging import probe

pytestmark = pytest.mark.judge("simgrid", "opensm")
RINGS = ("dp", "cp")
BLUEPRINT = """
kind: Cluster
schema: 1
name: placed
sites: {{hall: {{kind: on-prem}}}}
nodes:
  gpu: {{site: hall, system: hgx-h100, count: {count}}}
  ctl: {{site: hall, system: generic-1u, count: 1}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: infiniband, switch: qm9700, {fabric}, manager: {{kind: opensm, pool: gpu}}}}
  mgmt: {{site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}}
scheduler: {{kind: slurm, version: "24.11", controllers: ctl}}
training:
  job: {{model: llama-3-70b, nodes: gpu, count: 64, sequence: 8192, global_batch: 128, framework: megatron, parallel: {{{parallel}}}}}
"""
# Five units of 16 hosts with 8 adapters, a quarter of whose rate leaves a unit: 64 of 80 hosts as 4 stages of 8 replicas over 2 hosts a sequence.
TREE = {"count": 80, "fabric": "topology: rail-fat-tree, unit: 16, oversubscription: 4", "parallel": "tensor: 8, pipeline: 4, virtual: 5, context: 2"}


@dataclass(frozen=True)
class Scene:
    """A designed fabric, a job on it, the routes that opensm set, and what runs SimGrid."""

    design: object
    job: object
    plan: object
    routes: object
    python: object

    @cached_property
    def fabric(self):
        return self.design.fabrics["compute"]

    @cached_property
    def emitted(self):
        placement, findings = place(self.design, "gpu", self.job)
        assert placement and not findings
        return placement

    @cached_property
    def orders(self):
        """Name → hosts in rank order: the emitted one, names as they count, shuffled by three seeds, and dealt over the units or groups."""
        names, many = list(self.design.pools["gpu"].hosts), self.job.grid.nodes
        part = {host: pod for pod, of in enumerate(self.fabric.pods) for i in of.groups for host in self.fabric.groups[i].hosts} or self.fabric.group_of
        number = {host: sum(part[other] == part[host] for other in names[:i]) for i, host in enumerate(names)}
        dealt = sorted(names, key=lambda host: (number[host], part[host]))
        shuffled = {f"shuffled {seed}": random.Random(seed).sample(names, len(names)) for seed in (1, 2, 3)}
        others = {"sorted": names, "round-robin": dealt} | shuffled
        return {"emitted": list(self.emitted.hosts)} | {name: hosts[:many] for name, hosts in others.items()}

    def predicted(self, hosts):
        """Family → seconds by placement's count of bytes, no flow slower than its adapters."""
        names = self.design.pools["gpu"].hosts
        tiers = tiers_of(self.fabric, "gpu", names)
        node_Bps = self.fabric.nics["gpu"].count * self.fabric.link_gbps["gpu"] * 1e9 / 8
        counted = cost(replace(tiers, flow_Bps=np.full_like(tiers.flow_Bps, node_Bps)), self.job.grid, self.job.traffic, np.array([names.index(host) for host in hosts]))
        return {family.family: max(family.slowest_s, family.congestion_s) for family in counted.families}

    def phases(self, hosts):
        """Family → (pairs of adapters that send at once, bytes of each), drawn from the definition of the job's groups."""
        grid, traffic = self.job.grid, self.job.traffic
        seats = np.array(hosts).reshape(grid.pipeline, grid.data * grid.context)
        ahead = _neighbours(seats.T, closed=traffic.pipeline_ring)
        pairs = {
            "dp": (_neighbours(seats), traffic.data),
            "cp": (_neighbours(seats.reshape(-1, grid.context)) if grid.context > 1 else [], traffic.context),
            "pp": (ahead + [(far, near) for near, far in ahead], traffic.pipeline),
        }
        devices = sorted({adapter.split()[1] for adapter in self.plan.adapters})
        return {family: ([(f"{a} {device}", f"{b} {device}") for a, b in those for device in devices], int(volume / len(devices))) for family, (those, volume) in pairs.items() if those}

    @cached_property
    def simulated(self):
        """Order → family → seconds that SimGrid has for it over opensm's routes."""
        times = {}
        for name, hosts in self.orders.items():
            times[name] = {}
            for family, (pairs, size) in self.phases(hosts).items():
                times[name][family], said = simulated_s(self.plan, self.routes, Collective(family, (tuple(pairs),), size, 1.0, 0.0), self.python)
                assert times[name][family], said
        return times

    def exposed(self, times):
        """Seconds of a step that computation does not hide."""
        return sum(family.exposed * times[family.family] for family in self.emitted.cost.families)


def _neighbours(rows, closed=True):
    """(from, to) along each row, and from its end to its beginning."""
    return [(str(a), str(b)) for row in rows for a, b in zip(row, [*row[1:], row[0]] if closed else row[1:])]


def _scene(fabrics, engine, **sizes):
    state = run(BLUEPRINT.format(**sizes), "placed.yaml", "lab")
    assert state.project, state.findings
    plan = of_fabric(state.project.design.fabrics["compute"])
    seen, _, _ = fabrics.examine(plan, planned(plan, engine))
    return Scene(state.project.design, state.project.jobs["job"], plan, seen.routes, programs.find("simgrid").path)


@pytest.fixture(scope="module")
def tree(fabrics):
    return _scene(fabrics, "ftree", **TREE)


def test_the_emitted_order_is_the_fastest_of_all(tree):
    """Fewer ranks than hosts; every other order exposes more time, and dealt or shuffled names at least twice as much."""
    assert len(set(tree.emitted.hosts)) == 64 < len(tree.design.pools["gpu"].hosts)
    seconds = {name: tree.exposed(times) for name, times in tree.simulated.items()}
    best = seconds.pop("emitted")
    assert best < 0.95 * min(seconds.values()), (best, seconds)
    assert min(time for name, time in seconds.items() if name != "sorted") > 2 * best, (best, seconds)


def test_rings_of_the_emitted_order_take_what_placement_says(tree):
    """On opensm's routes, within 5 %. Of other orders flows meet that the count spreads evenly: they are never faster than it says."""
    for name, hosts in tree.orders.items():
        foreseen, times = tree.predicted(hosts), tree.simulated[name]
        for family in set(RINGS) & times.keys():
            assert times[family] >= 0.999 * foreseen[family], (name, family)
            assert name != "emitted" or times[family] == pytest.approx(foreseen[family], rel=0.05), family


def test_with_flows_spread_over_all_ways_rings_take_what_placement_says_in_every_order(tree):
    """Eight adapters by rails, four to one: within 5 %, from an order in which no ring meets another to one in which most edges leave a unit."""
    ratios = []
    for name, hosts in tree.orders.items():
        foreseen = tree.predicted(hosts)
        for family, (pairs, size) in tree.phases(hosts).items():
            if family in RINGS:
                ratios.append(foreseen[family] / _spread_s(tree, pairs, size))
                assert ratios[-1] == pytest.approx(1.0, rel=0.05), (name, family)
    assert len(ratios) == 12


def _spread_s(scene, pairs, size):
    """Seconds of flows each of which is divided evenly over all ways up to a spine and down again."""
    trunks = [link for link in scene.plan.links if link.a in scene.plan.ports]
    numbers = {}
    for i, link in enumerate(trunks):
        numbers.setdefault((link.a, link.b), []).append(i)
    number = {adapter: i for i, adapter in enumerate(scene.plan.adapters)}
    leaf, most, host = scene.plan.leaf_of, len(trunks), len(number)

    def ways(near, far):
        """Links of each way: a trunk has its number upwards, and one more by ``most`` downwards."""
        if leaf[near] == leaf[far]:
            return [[]]
        return [[up, most + down] for spine in scene.plan.tiers[1] for up in numbers.get((leaf[near], spine), ()) for down in numbers.get((leaf[far], spine), ())]

    widest = max(len(ways(near, far)) for near, far in pairs)
    flows = []
    for near, far in pairs:
        parts = ways(near, far)
        for k, way in enumerate(parts):  # SimGrid has one route for two hosts: the parts of a flow are those of as many hosts on one adapter
            through = [2 * most + number[near], *way, 2 * most + host + number[far]]
            flows.append([number[near] * widest + k, number[far] * widest + k, size // len(parts), through])
    links = [scene.plan.trunk_gbps * 1e9 / 8] * (2 * most) + [scene.plan.host_gbps * 1e9 / 8] * (2 * host)
    return _asked({"links": links, "hosts": host * widest, "steps": [flows]}, scene.python)


def _asked(case, python):
    with tempfile.TemporaryDirectory(prefix="iacgen-") as work:
        file = Path(work) / "case.json"
        file.write_text(json.dumps(case), encoding="utf-8")
        answer, said = probe(python, "simgrid_flows.py", str(file), env={}, timeout=120.0)
    assert answer, said
    return answer["seconds"][0]
