"""Case files as values: label arrays, grid, traffic, and the orders whose cost is on record."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iacgen.placement.tiers import Tiers
from iacgen.training.traffic import NodeGrid, Traffic

CASES = Path(__file__).parent.parent / "cases" / "placement"


def case_files() -> list[Path]:
    """The case files of this repository and those of the folder in IACGEN_CASES."""
    folders = [CASES] + ([Path(os.environ["IACGEN_CASES"]) / "placement"] if os.environ.get("IACGEN_CASES") else [])
    return [file for folder in folders for file in sorted(folder.glob("c*.json"))]


def natural(name: str) -> list[Any]:
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", name)]


@dataclass(frozen=True)
class Case:
    """One recorded instance. ``hosts`` are the idle ones in natural order of their names; orders index into them."""

    data: dict[str, Any]
    hosts: list[str]
    tiers: Tiers
    grid: NodeGrid
    traffic: Traffic
    exposed: dict[str, float]

    def order(self, names: list[str]) -> np.ndarray:
        return np.array([self.hosts.index(name) for name in names])


def read(path: Path) -> Case:
    data = json.loads(path.read_text())
    topology, job = data["topology"], data["job"]
    nodes = sorted((n for n in topology["nodes"] if n["state"] == "idle"), key=lambda n: natural(n["name"]))
    uplinks = topology["uplink_Bps_per_direction"]
    tiers = Tiers(
        tuple(topology["tiers"]),
        tuple(tuple(f"{t}{i}" for i in range(len(uplinks[t]))) for t in topology["tiers"]),
        np.array([[n[t] for n in nodes] for t in topology["tiers"]]),
        tuple(np.array(uplinks[t]) for t in topology["tiers"]),
        np.array(topology["node_flow_Bps_by_lowest_common_tier"]),
    )
    volume = job["bytes_per_node"]
    traffic = Traffic(volume.get("dp", 0), volume.get("cp", 0), volume.get("pp", 0), volume.get("ep", 0), job["pp_ring"])
    grid = NodeGrid(job["cp_nodes"], job["dp"], job["pp"], job["ep_nodes"])
    return Case(data, [n["name"] for n in nodes], tiers, grid, traffic, job["exposed_fraction"])


@pytest.fixture(params=case_files(), ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> Case:
    return read(request.param)
