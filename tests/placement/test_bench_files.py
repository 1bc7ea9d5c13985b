"""The clusters that the placement is measured on are what they say: their sizes, their pods, their jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from iacgen.pipeline import run
from iacgen.training.traffic import NodeGrid

BENCH = Path(__file__).parents[1] / "bench"
# file: hosts that are up, pods, bandwidth into a pod's spines over that to the cores, grid of the job in nodes
PLANNED = {
    "16k": (2_273, 6, 7, NodeGrid(1, 128, 16)),
    "98k": (12_892, 34, 7, NodeGrid(1, 768, 16)),
    "98k-moe": (12_892, 34, 4, NodeGrid(1, 768, 16, expert=8)),
}


@pytest.mark.parametrize("name", PLANNED)
def test_the_files_plan_what_they_say(name):
    up, pods, oversubscribed, grid = PLANNED[name]
    state = run((BENCH / f"{name}.yaml").read_text(encoding="utf-8"), f"{name}.yaml", judge=False)
    assert state.project, state.findings
    pool, fabric, job = state.design.pools["gpu"], state.design.fabrics["compute"], state.jobs["pretrain"]
    assert (pool.count - len(pool.down), job.grid) == (up, grid)
    assert job.grid.nodes * job.spec.gpus_per_node == {"16k": 16_384}.get(name, 98_304)
    assert [len(pod.groups) * 32 * 8 for pod in fabric.pods] == [3_072] * pods
    inside = 384 * 8 * 50e9  # a pod's hosts with eight ports of 400 Gb/s; a spine has whole uplinks, one more than would do at most
    assert fabric.oversubscription == 1 and oversubscribed * 96 / (96 + oversubscribed) < inside / fabric.pod_Bps() <= oversubscribed
