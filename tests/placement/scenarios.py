"""The situations of tests/cases/placement_scenarios.yaml as values: label arrays, grid, traffic, exposed shares.

Its own arithmetic builds the fabrics, so that nothing of the package's builders decides what is held against them; the bytes of
the jobs come from the training room.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from iacgen import catalog
from iacgen.placement.tiers import Tiers
from iacgen.training import JobSpec
from iacgen.training.traffic import NodeGrid, Traffic, node_grid, node_share, traffic

FILE = Path(__file__).parents[1] / "cases" / "placement_scenarios.yaml"
EXPOSED = {"dp": 0.4, "pp": 0.3, "cp": 0.5, "ep": 1.0}
SHARES = (0.95, 0.85, 0.78)  # of a host's adapters, by the tier where two ends meet
NIC_BPS = 50e9  # 400 Gb/s
NVLINK_BPS = 0.78 * 900e9  # of a GB200 GPU, one direction (1.8 TB/s both ways), as far as collectives reach it
GPUS = {"dgx-h100": (8, "h100-sxm"), "gb200": (4, "gb200")}  # system → GPUs and adapters of a host, GPU


@dataclass(frozen=True)
class Scenario:
    """One situation. Hosts of ``tiers`` are those that are up, in natural order of their names. ``names[h]`` is the name of host h, ``place[h]``
    its place in the fabric; ``kinds[h]`` its type of GPU where there are several. ``naive`` and ``within``: see the file."""

    name: str
    tiers: Tiers
    grid: NodeGrid
    traffic: Traffic
    names: tuple[str, ...]
    place: np.ndarray
    kinds: np.ndarray | None
    naive: dict[str, float]
    within: float
    exposed: dict[str, float]

    def by_names(self) -> np.ndarray:
        """The first hosts in natural order."""
        return np.arange(self.grid.nodes)

    def by_letters(self) -> np.ndarray:
        """The first hosts as plain strings sort: n1, n10, n100, n2."""
        return np.array(sorted(range(len(self.names)), key=self.names.__getitem__))[: self.grid.nodes]

    def by_fabric(self) -> np.ndarray:
        """The first hosts leaf by leaf, pod by pod."""
        return np.argsort(self.place)[: self.grid.nodes]

    def by_chance(self, seed: int = 1) -> np.ndarray:
        """Any hosts in any order."""
        return np.array(random.Random(seed).sample(range(len(self.names)), self.grid.nodes))


def names() -> tuple[str, ...]:
    """Of all scenarios, in the order of the file."""
    return tuple(_data())


@cache
def scenario(name: str) -> Scenario:
    """Raises KeyError for an unknown name."""
    said = _data()[name]
    gpus, gpu = GPUS[said.get("system", "dgx-h100")]
    leaf_of, pod_of = _groups(said)
    number = _numbers(said, leaf_of)
    away = said.get("away", {"count": 0, "seed": 0})
    up = sorted(set(range(len(leaf_of))) - set(random.Random(away["seed"]).sample(range(len(leaf_of)), away["count"])), key=number.__getitem__)
    grid, bytes_sent = _job(name, said["job"], gpus, gpu)
    kinds = np.array(said["kinds"])[leaf_of][up] if "kinds" in said else None
    tiers = _tiers(said, leaf_of, pod_of, up, gpus, kinds)
    return Scenario(name, tiers, grid, bytes_sent, tuple(f"n{number[i]}" for i in up), np.array(up), kinds, said["naive"], said.get("within", 1.005), EXPOSED)


@cache
def _data() -> dict[str, dict[str, Any]]:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def _groups(said: dict[str, Any]) -> tuple[np.ndarray, np.ndarray | None]:
    """Leaf of each host in the order of the fabric; pod of each leaf, None without pods."""
    pods = said.get("pods")
    if pods is None:
        return np.repeat(np.arange(len(said["leaves"])), said["leaves"]), None
    pods = [said["leaves"]] * pods if isinstance(pods, int) else pods
    sizes = [size for pod in pods for size in pod]
    return np.repeat(np.arange(len(sizes)), sizes), np.repeat(np.arange(len(pods)), [len(pod) for pod in pods])


def _numbers(said: dict[str, Any], leaf_of: np.ndarray) -> list[int]:
    """Number in the name of each host."""
    hosts, how = len(leaf_of), said.get("numbers", "ordered")
    dealt = list(range(hosts))
    if how == "random":
        random.Random(said["seed"]).shuffle(dealt)
    if how == "round-robin":
        seat = [i - int(np.searchsorted(leaf_of, leaf_of[i])) for i in dealt]
        order = sorted(dealt, key=lambda i: (seat[i], leaf_of[i]))
        return [n for _, n in sorted(zip(order, dealt, strict=True))]
    return dealt


def _tiers(said: dict[str, Any], leaf_of: np.ndarray, pod_of: np.ndarray | None, up: list[int], gpus: int, kinds: np.ndarray | None) -> Tiers:
    node_Bps = gpus * NIC_BPS
    labels, words = [leaf_of], ("leaf",)
    if pod_of is not None:
        labels, words = [leaf_of, pod_of[leaf_of]], ("leaf", "group" if "dragonfly" in said else "pod")
    uplinks = tuple(np.bincount(of) * node_Bps / over for of, over in zip(labels, said["over"], strict=True))
    more: dict[str, Any] = {}
    if "domain" in said:
        more |= {"domain": np.arange(len(leaf_of))[up] // said["domain"], "nvlink_Bps": gpus * NVLINK_BPS}
    if "dragonfly" in said:
        many = len(uplinks[-1])
        more["pair_Bps"] = np.full((many, many), said["dragonfly"] * 1e9 / 8)
    if kinds is not None:
        more["kind"] = kinds
    groups = tuple(tuple(f"{word}{i}" for i in range(len(rates))) for word, rates in zip(words, uplinks, strict=True))
    return Tiers(words, groups, np.array([of[up] for of in labels]), uplinks, node_Bps * np.array(SHARES[: len(words) + 1]), **more)


def _job(name: str, said: dict[str, Any], gpus: int, gpu: str) -> tuple[NodeGrid, Traffic]:
    """Shape and bytes of the job: Megatron with the distributed optimizer, bf16 gradients, sequence parallelism, nothing computed twice.
    ``ends``: embedding and loss count as a layer each."""
    wanted = {key: value for key, value in said.items() if key not in ("model", "ends")}
    ends = said.get("ends", False)
    spec = JobSpec(
        name=name, model=catalog.model(said["model"]), gpu=catalog.gpu(gpu), gpus_per_node=gpus, distributed_optimizer=True,
        sequence_parallel=said.get("tensor", 1) > 1, embedding_as_layer=ends, loss_as_layer=ends, **wanted,
    )  # fmt: skip
    share = node_share(spec)
    assert share, f"{name}: no shape in whole hosts"
    return node_grid(spec, share), traffic(spec, share)
