"""How long ``parallel: auto`` thinks, in seconds of this machine: one process a job, imports and catalog included.

``python tests/bench/search.py`` prints the table; with ``--assert`` it exits 1 when a job takes longer than BOUND_S.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

BOUND_S = 10.0
JOBS = {
    "405B on 16,384 H100": ("llama-3.1-405b", 2048, 8192, 2048),
    "405B on 16,384 H100, 131,072 tokens": ("llama-3.1-405b", 2048, 131072, 128),
    "405B on 103,680 H100": ("llama-3.1-405b", 12960, 8192, 8640),
    "70B on 256 H100": ("llama-3-70b", 32, 8192, 1024),
    "8B on 16 H100": ("llama-3-8b", 2, 8192, 4096),
}
PROBE = """
import sys
from iacgen import catalog
from iacgen.training import JobSpec
from iacgen.training.search import search
model, nodes, sequence, batch = sys.argv[1], *map(int, sys.argv[2:])
job = JobSpec(name="job", model=catalog.model(model), gpu=catalog.gpu("h100-sxm"), nodes=nodes, gpus_per_node=8, sequence=sequence,
              global_batch=batch, gradients="bf16", distributed_optimizer=True, node_bytes_per_s=400e9)
found = search(job, frozenset({"micro_batch", "recompute"}))
print(f"{found.best.seconds:.3f} s a step, {found.ways:,} ways: {found.best.words}")
"""


def main() -> int:
    """Print the table; with ``--assert`` 1 when a job takes longer than its bound."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--assert", action="store_true", dest="hold", help="exit 1 above the bound")
    asked, worst = options.parse_args(), 0.0
    for name, arguments in JOBS.items():
        began = time.perf_counter()
        answer = subprocess.run([sys.executable, "-c", PROBE, *map(str, arguments)], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
        took = time.perf_counter() - began
        worst = max(worst, took)
        print(f"{name:<36} {took:6.2f} s of {BOUND_S:g}  {answer.stdout.strip()}")
    return int(asked.hold and worst > BOUND_S)


if __name__ == "__main__":
    sys.exit(main())
