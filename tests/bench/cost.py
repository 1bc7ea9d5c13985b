"""What commands cost, as ratios: CPU time against that of a yardstick which runs beside them, in turn, on the same machine.

``python tests/bench/cost.py`` prints the table; with ``--assert`` it exits 1 when a ratio is above its bound in ``bounds.json``.
Ratios and not seconds, since machines differ and other work disturbs: of several rounds the cheapest of each counts.

The yardstick is ``python -c "import pydantic, ruamel.yaml, networkx"``: what a program of this kind pays before it does anything.
Hostile files are held to their bound of 1 s + 25 µs a byte and 200 MB as well, in seconds of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = json.loads((Path(__file__).parent / "bounds.json").read_text(encoding="utf-8"))
YARDSTICK = ("-c", "import pydantic, ruamel.yaml, networkx")
FIXED_S, SECONDS_PER_BYTE, MOST_MB = 1.0, 25e-6, 200


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a process and its largest memory in MB."""

    seconds: float
    megabytes: float


def measured(*arguments: str | Path) -> Cost:
    """The cost of one run of this Python."""
    process = subprocess.Popen([sys.executable, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def commands(folder: Path) -> dict[str, tuple[str | Path, ...]]:
    """Name in ``bounds.json`` → arguments of Python."""
    pod = ROOT / "blueprints/superpod-h100.yaml"
    return {
        "check of 127 nodes": ("-m", "iacgen", "check", pod),
        "resolve of 127 nodes": ("-m", "iacgen", "resolve", pod),
        "generate of 127 nodes": ("-m", "iacgen", "generate", pod, "--out", folder),
        "--version": ("-m", "iacgen", "--version"),
    }


def hostile() -> Iterator[tuple[str, str]]:
    """Files of the dearest shapes that were found, each below the limits or just above them."""
    head = "kind: Cluster\nschema: 1\nname: x\nsites: {h: {kind: on-prem}}\n"
    most = 262_144
    pool = "  a{}x: {{site: h, system: hgx-h100, count: {}}}\n"
    yield "deep lists, many", head + "nodes: {a: [" + ("[" * 45 + "]" * 45 + ",") * 108 + "]}\n"
    yield "wrong values, many", head + "nodes: {a: {site: h, system: x, count: 1, down: [" + "1," * 9900 + "]}}\n"
    yield "unknown keys, long", head + "nodes: {a: {" + "".join(f"{'countsystem' * 10}{i:04}: 1, " for i in range(2000)) + "}}\n"
    yield "sections without keys", head + "nodes:\n" + "".join(f"  a{i}x: {{}}\n" for i in range(4900))
    yield "ambiguous words", head + "nodes: [" + "no, " * 9900 + "]\n"
    yield "keys twice", head + "nodes: {" + "a: 1, " * 4900 + "}\n"
    yield "pools, many", head + "nodes:\n" + "".join(pool.format(i, 120) for i in range(1000))
    yield "pools, huge", head + "nodes:\n" + "".join(pool.format(i, 65535) for i in range(1000))
    yield "merges", "a0: &a0 {" + ", ".join(f"k{i}: 1" for i in range(900)) + "}\n" + "".join(f"b{i}: {{<<: *a0}}\n" for i in range(900))
    yield "aliases", "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1} '] * 9)}]\n" for i in range(1, 9))
    yield "one line", (head + "nodes: " + "abcdefgh " * most)[: most - 1] + "\n"
    yield "comments", head + "nodes: {}\n" + "#\n" * ((most - len(head) - 10) // 2)
    yield "comments that allow", head + "nodes: {}\n" + "# iacgen: allow x -- y\n" * 11_000
    yield "brackets", "[" * most
    yield "too large", "#" * (most + 1)
    yield "hidden characters", "\u202e" * (most // 3)


def rounds(count: int, runs: dict[str, Callable[[], Cost]]) -> dict[str, Cost]:
    """The cheapest of ``count`` rounds, all runs in turn in each."""
    costs: dict[str, list[Cost]] = {name: [] for name in runs}
    for _ in range(count):
        for name, run in runs.items():
            costs[name].append(run())
    return {name: Cost(min(c.seconds for c in some), max(c.megabytes for c in some)) for name, some in costs.items()}


def main() -> int:
    """Print the tables; with ``--assert`` 1 when one is above its bound."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--assert", action="store_true", dest="hold", help="exit 1 above a bound")
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    worst = 0
    with tempfile.TemporaryDirectory() as temporary:
        wanted = commands(Path(temporary))
        found = rounds(asked.rounds, {"yardstick": lambda: measured(*YARDSTICK)} | {n: (lambda a=a: measured(*a)) for n, a in wanted.items()})
        print(f"{'yardstick':<24} {found['yardstick'].seconds:6.2f} s")
        for name in wanted:
            ratio = found[name].seconds / found["yardstick"].seconds
            worst |= ratio > BOUNDS[name]
            print(f"{name:<24} {found[name].seconds:6.2f} s  {ratio:5.2f} of {BOUNDS[name]} times the yardstick")
        for name, text in hostile():
            file = Path(temporary) / "hostile.yaml"
            file.write_text(text, encoding="utf-8")
            cost = rounds(min(2, asked.rounds), {name: lambda f=file: measured("-m", "iacgen", "check", f)})[name]
            bound = FIXED_S + SECONDS_PER_BYTE * file.stat().st_size
            worst |= cost.seconds > bound or cost.megabytes > MOST_MB
            print(f"{name:<24} {cost.seconds:6.2f} s of {bound:.2f}, {cost.megabytes:.0f} MB of {MOST_MB}, {file.stat().st_size:,} bytes")
    return int(worst) if asked.hold else 0


if __name__ == "__main__":
    sys.exit(main())
