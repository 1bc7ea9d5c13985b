"""What ``iacgen place`` costs, the whole command as a process of its own, on two cores: 98,304 GPUs, dense and with experts, and 16,384.

``python tests/bench/place.py`` prints the tables; with ``--assert`` it exits 1 when the least of several rounds passes a limit in seconds, when
any takes 1 GB, when processor time grows faster than the hosts do by more than a quarter (with experts: by more than seven eighths), or when
one placement of 12,288 nodes is not scored in tens of milliseconds, or takes longer than so many sorts of as many numbers, which run beside it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORES, MOST_MB, HOSTS = 2, 1000, 12_288 / 2_048
SMALL = "16k.yaml"
LIMITS = {SMALL: (2.0, 1.0), "98k.yaml": (8.0, 1.25 * HOSTS), "98k-moe.yaml": (12.0, 1.875 * HOSTS)}
"""File → most seconds, and most processor time as a multiple of that of the small one."""
MOST_SCORE_MS, MOST_SORTS = 30.0, 20.0
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
    """Seconds of the clock and of the processor, and the largest memory in MB, of one process."""

    wall_s: float
    cpu_s: float
    megabytes: float


def placed(file: str) -> Cost:
    """The cost of one run of the command. Raises RuntimeError where it fails."""
    with tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "iacgen", "place", Path(__file__).parent / file, "--format", "json"], stdout=subprocess.DEVNULL, stderr=errors, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"iacgen place {file} ended with {process.returncode}: {errors.read().decode(errors='replace')[-2000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def commands(rounds: int) -> bool:
    """Print the least of several rounds, all files in turn in each; whether all limits are kept."""
    costs: dict[str, list[Cost]] = {file: [] for file in LIMITS}
    for _ in range(rounds):
        for file in LIMITS:
            costs[file].append(placed(file))
    least = {file: Cost(min(c.wall_s for c in some), min(c.cpu_s for c in some), max(c.megabytes for c in some)) for file, some in costs.items()}
    kept = True
    for file, (seconds, ratio) in LIMITS.items():
        cost = least[file]
        grown = cost.cpu_s / least[SMALL].cpu_s
        kept &= cost.wall_s < seconds and cost.megabytes < MOST_MB and grown <= ratio
        print(f"{file:<14} {cost.wall_s:6.2f} s of {seconds:g}, {cost.megabytes:.0f} MB of {MOST_MB}, {cost.cpu_s:6.2f} s of processor time, {grown:5.2f} of {ratio:g} times the small one")
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
