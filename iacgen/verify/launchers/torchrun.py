"""Ask torchrun: does it take the arguments of each job's script, for the nodes, the ranks and the order of the placement?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import probe
from ..launch import of_script, reads_of, verify_files
from ..script import Step, statements, steps
from ..verdict import Verdict
from . import of_hosts

_FILES = ("torchrun.sh", "hostfile")
READS = tuple(f"training/*/{name}" for name in _FILES)
_LONGEST_S = 120.0
_PORT = "29500"


def reads(tree: Path) -> list[str]:
    """Those of READS that are in a job of its own in this tree."""
    return reads_of(tree, _FILES)


def applies(tree: Path) -> bool:
    """True when the tree holds a job that torchrun can start."""
    return any(tree.glob("training/*/torchrun.sh"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``jobs`` and the ``placements``."""
    return verify_files("torchrun", "torchrun", _FILES, lambda job: True, tree, project, _ask)


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    """The first and the last node of each job, in one start of the interpreter."""
    findings: list[Diagnostic] = []
    questions: list[tuple[str, int, list[str]]] = []
    for name in names:
        placement, folder = project.placements[name], tree / "training" / name
        findings += of_script(f"training/{name}/torchrun.sh", folder / "torchrun.sh", _steps(name, placement))
        findings += of_hosts(f"training/{name}/hostfile", folder / "hostfile", placement)
        text = (folder / "torchrun.sh").read_text(encoding="utf-8")
        questions += [(name, node, words) for node in sorted({0, len(placement.hosts) - 1}) if (words := _words(text, node))]
    said, complaint = probe(found.path, "torchrun_probe.py", json.dumps([words for _, _, words in questions]), env={"OMP_NUM_THREADS": "1"}, timeout=_LONGEST_S)
    if said is None:
        return [*findings, finding("torchrun-refused", f"torchrun did not answer: {complaint[-400:]}")]
    for (name, node, _), read in zip(questions, said, strict=True):
        findings += _of_placement(f"training/{name}/torchrun.sh", read, node, project.placements[name])
    return findings


def _of_placement(name: str, read: dict[str, Any], node: int, placement: Any) -> Iterator[Diagnostic]:
    if read["refused"]:
        yield finding("torchrun-refused", f"{name}: {read['refused']}")
        return
    nodes = len(placement.hosts)
    planned = {
        "nodes": [nodes, nodes], "ranks": placement.gpus_per_node, "node_rank": node, "backend": "static",
        "endpoint": f"{placement.hosts[0]}:{_PORT}", "restarts": 0, "command": ["bash", "/job/launch.sh"],
    }  # fmt: skip
    for key, value in planned.items():
        if read[key] != value:
            yield finding("rank-not-of-placement", f"{name}: torchrun takes {key} {read[key]} on node {node}, but the placement has {value}")


def _words(text: str, node: int) -> list[str]:
    """The words that torchrun would get on one node; none where no such statement is there. Nothing is expanded by a shell."""
    for _, words in statements(text):
        if words.startswith('exec "${TORCHRUN:-torchrun}" '):
            plain = words.replace("$node_rank", str(node)).replace("${MASTER_PORT:-29500}", _PORT).replace("$here", "/job").removesuffix(' "$@"')
            return shlex.split(plain.replace(" \\", " "))[2:]
    return []


def _steps(job: str, placement: Any) -> tuple[Step, ...]:
    return (
        Step("set -euo pipefail", "a step that fails must end the node's ranks"),
        Step(f"""die() {{ printf '%s: %s\\n' {job} "$*" >&2; exit 1; }}""", "a node that cannot start must say why and end"),
        Step('here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)', "its own files are found from where it lies"),
        *steps(
            """
            host=$(uname -n)
            node_rank=$(awk -v host="${host%%.*}" '$1 == host {print NR - 1}' "$here/hostfile")
            [[ $node_rank =~ ^[0-9]+$ ]] || die "no such host"
            """,
            "a node's number is its line in the hostfile",
        ),
        *steps(
            f"""
            exec "${{TORCHRUN:-torchrun}}" --nnodes={len(placement.hosts)} --nproc-per-node={placement.gpus_per_node} --node-rank="$node_rank" --rdzv-backend=static \\
            --master-addr={placement.hosts[0]} --master-port="${{MASTER_PORT:-29500}}" --max-restarts=0 --no-python bash "$here/launch.sh" "$@"
            """,
            "the ranks must be those of the placement, in its order",
        ),
    )
