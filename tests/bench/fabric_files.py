"""What the graph and all files of a large RoCE fabric cost: 98,304 GPUs in three 1:1 tiers of SN5600, against 12,288 in the same run.

The same 98,304 GPUs on 64-port switches (QM9700) are refused: with their limit, k^3/4 = 65,536 ports, and with the nearest designs.

``python tests/bench/fabric_files.py`` prints all three; with ``--assert`` it exits 1 when the larger one takes 60 s or more of processor
time or 2 GB of memory, or more than 8 x 1.2 times the smaller one, and when the refusal takes 10 s or more or lacks one of its words.
Each runs in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

SMALL, LARGE = 1_536, 12_288  # nodes of eight GPUs
MOST_S, MOST_MB, MOST_RATIO = 60.0, 2_000.0, 8 * 1.2
REFUSAL_S = 10.0
REFUSAL = (
    "carry at most 65,536 host ports", "98,304 are planned", "possible are", "nodes.gpu.count 8192", "technology roce, switch sn5600", "oversubscription", "topology dragonfly-plus"
)  # fmt: skip
_MEASURED = """
import resource, sys
from iacgen.pipeline import run
from iacgen.placement.project import Project
from iacgen.design.fabric.wiring import graph
from iacgen.targets import fabric
state = run(sys.argv[1], "bench")
assert state.design, state.findings
tree = fabric.render(state.project or Project("bench", state.design, {}, {}))
rows = tree["fabric/compute/p2p.csv"].count("\\n") - 1
wanted = state.design.fabrics["compute"].cables.total
joined = sum(links for *_, links in graph(state.design.fabrics["compute"]).edges(data="links"))
assert rows == wanted == joined, (rows, wanted, joined)
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, rows, len(tree))
"""
_BLUEPRINT = """kind: Cluster
schema: 1
name: bench
sites: {{hall: {{kind: on-prem}}}}
nodes: {{gpu: {{site: hall, system: dgx-h100, count: {nodes}, width: 5}}}}
fabrics: {{compute: {{site: hall, purpose: compute, connects: [gpu], topology: rail-fat-tree, {fabric}}}}}
"""
_ROCE = "technology: roce, switch: sn5600, unit: 64, os: {os}"
_QM9700 = "technology: infiniband, switch: qm9700, unit: 32, manager: {kind: opensm, pool: gpu}"
_REFUSED = """
import resource, sys
from iacgen.pipeline import run
state = run(sys.argv[1], "bench")
errors = [f for f in state.findings if f.severity == "error"]
assert not state.design and [f.id for f in errors] == ["IAC211"], errors
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime)
print(errors[0].message, errors[0].help, sep="\\n")
"""


def cost(nodes: int, os: str) -> tuple[float, float, int, int]:
    """Seconds of processor time, megabytes, links, files: start of Python, design and all."""
    done = subprocess.run([sys.executable, "-c", _MEASURED, _BLUEPRINT.format(nodes=nodes, fabric=_ROCE.format(os=os))], capture_output=True, text=True, check=True)
    seconds, megabytes, links, files = done.stdout.split()
    return float(seconds), float(megabytes), int(links), int(files)


def refusal() -> tuple[float, str]:
    """Seconds of processor time until the request is refused, start of Python and all, and the words."""
    done = subprocess.run([sys.executable, "-c", _REFUSED, _BLUEPRINT.format(nodes=LARGE, fabric=_QM9700)], capture_output=True, text=True, check=True)
    seconds, _, message = done.stdout.partition("\n")
    return float(seconds), message


def main() -> int:
    """Print both sizes; with ``--assert`` 1 when a bound is passed."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--assert", action="store_true", dest="hold", help="exit 1 above a bound")
    options.add_argument("--os", choices=["cumulus", "sonic"], default="cumulus")
    asked = options.parse_args()
    found = {}
    for nodes in (SMALL, LARGE):
        found[nodes] = seconds, megabytes, links, files = cost(nodes, asked.os)
        print(f"{nodes * 8:>7,} GPUs {links:>8,} links {files:>6,} files {seconds:6.1f} s {megabytes:7.0f} MB")
    ratio = found[LARGE][0] / found[SMALL][0]
    print(f"ratio {ratio:.2f} of {MOST_RATIO:.1f}; {found[LARGE][0]:.1f} of {MOST_S:.0f} s; {found[LARGE][1]:.0f} of {MOST_MB:.0f} MB")
    refused_s, message = refusal()
    missing = [words for words in REFUSAL if words not in message]
    print(f"{LARGE * 8:>7,} GPUs on QM9700 refused in {refused_s:.1f} of {REFUSAL_S:.0f} s: {'; '.join(message.split(chr(10))).strip('; ')}" + (f"; NOT said: {', '.join(missing)}" if missing else ""))
    return int(asked.hold and (bool(missing) or refused_s >= REFUSAL_S or ratio > MOST_RATIO or found[LARGE][0] >= MOST_S or found[LARGE][1] >= MOST_MB))


if __name__ == "__main__":
    sys.exit(main())
