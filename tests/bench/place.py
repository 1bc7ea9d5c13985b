"""What ``iacgen place`` costs, the whole command as a process of its own, on two cores: 98,304 GPUs, dense and with experts, and 16,384.

``python tests/bench/place.py`` prints the tables; with ``--assert`` it exits 1 when the quickest of several rounds passes a limit in seconds,
when any takes 1 GB, when an order costs more than 1.005 times its bound, when six times the hosts take more than three times the processor time
(with experts: four times), or when one placement of 12,288 nodes is not scored in tens of milliseconds, or takes longer than so many sorts of as
many numbers, which run beside it. Seconds are those of the clock; on a busy machine, where the command waits for its turn, those of the
processor.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORES, MOST_MB = 2, 1000
SMALL = "16k.yaml"
LIMITS = {SMALL: (2.0, 1.0), "98k.yaml": (8.0, 3.0), "98k-moe.yaml": (12.0, 4.0)}
"""File → most seconds, and most processor time as a multiple of that of the small one."""
MOST_SCORE_MS, MOST_SORTS = 30.0, 20.0
MOST_OF_BOUND = 1.005
_SCORED = """
import sys, time
import numpy as np
from iacgen.pipeline import run
from iacgen.placement.cost import cost
from iacgen.placement.tiers import of_fabric
state = run(open(sys.argv[1], encoding="utf-8").read(), "bench", judge=False)
assert state.project, state.findings
job, pool, fabric = state.jobs["pretrain"], state.design.pools["gpu"], state.design.fabrics["compute"]
tiers = of_fabric(fabric, "gpu", [host for host in pool.hosts if host not in pool.down])
random = np.random.default_rng(7)
def least(run):
    took = []
    for _ in range(30):
        began = time.process_time()
        run()
        took.append(time.process_time() - began)
    return min(took) * 1e3
numbers = random.permutation(job.grid.nodes)
sort = least(lambda: [np.sort(numbers, kind="stable") for _ in range(10)]) / 10
for name, order in (("sorted", np.arange(job.grid.nodes)), ("shuffled", random.permutation(tiers.hosts)[: job.grid.nodes])):
    print(name, least(lambda: cost(tiers, job.grid, job.traffic, order)), sort)
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of the clock and of the processor, the largest memory in MB, and the cost of the order over its bound, of one process."""

    wall_s: float
    cpu_s: float
    megabytes: float
    of_bound: float

    @property
    def seconds(self) -> float:
        """By the clock; by the processor where more processes than cores want to run."""
        return self.cpu_s if os.getloadavg()[0] > CORES else self.wall_s


def placed(file: str) -> Cost:
    """The cost of one run of the command. Raises RuntimeError where it fails or its answer is no placement."""
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "iacgen", "place", Path(__file__).parent / file, "--format", "json"], stdout=answer, stderr=errors, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        answer.seek(0)
        errors.seek(0)
        if process.returncode:
            raise RuntimeError(f"iacgen place {file} ended with {process.returncode}: {errors.read().decode(errors='replace')[-2000:]}")
        (job,) = json.load(answer)["jobs"]
    down = {idle["host"] for idle in job["idle"] if idle["why"] == "down"}
    if 8 * len(set(job["hosts"])) != job["ranks"] or len(job["hosts"]) * 8 != job["ranks"] or not down or down & set(job["hosts"]):
        raise RuntimeError(f"iacgen place {file} gives {job['ranks']} ranks no hosts of their own that are up")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, job["cost"]["seconds"] / job["bound"]["seconds"])


def commands(rounds: int) -> bool:
    """Print the least of several rounds, all files in turn in each; whether all limits are kept."""
    costs: dict[str, list[Cost]] = {file: [] for file in LIMITS}
    for _ in range(rounds):
        for file in LIMITS:
            costs[file].append(placed(file))
    small = min(c.cpu_s for c in costs[SMALL])
    kept = True
    for file, (limit, ratio) in LIMITS.items():
        best = min(costs[file], key=lambda cost: cost.seconds)
        megabytes, of_bound, grown = max(c.megabytes for c in costs[file]), max(c.of_bound for c in costs[file]), min(c.cpu_s for c in costs[file]) / small
        kept &= best.seconds < limit and megabytes < MOST_MB and of_bound <= MOST_OF_BOUND and grown <= ratio
        times = f"clock {best.wall_s:.2f}, processor {best.cpu_s:.2f}: {grown:.2f} of {ratio:g} times the small one"
        print(f"{file:<14} {best.seconds:6.2f} s of {limit:g} ({times}), {megabytes:.0f} MB of {MOST_MB}, {of_bound:.4f} of {MOST_OF_BOUND} times its bound")
    return kept


def scores() -> bool:
    """Print what one placement costs to score; whether it is little."""
    kept = True
    for file in LIMITS:
        done = subprocess.run([sys.executable, "-c", _SCORED, Path(__file__).parent / file], capture_output=True, text=True, check=True, cwd=ROOT)
        for line in done.stdout.splitlines():
            name, score, sort = line.split()
            sorts = float(score) / float(sort)
            kept &= float(score) < MOST_SCORE_MS and sorts <= MOST_SORTS
            print(f"{file:<14} {name:<9} scored in {float(score):6.2f} ms of {MOST_SCORE_MS:g}, {sorts:5.1f} of {MOST_SORTS:g} sorts of as many numbers")
    return kept


def main() -> int:
    """Print the tables; with ``--assert`` 1 when a limit is passed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--assert", action="store_true", dest="hold", help="exit 1 above a limit")
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:CORES]))
    kept = [scores(), commands(asked.rounds)]
    return int(asked.hold and not all(kept))


if __name__ == "__main__":
    sys.exit(main())
