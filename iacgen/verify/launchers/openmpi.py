"""Ask Open MPI: its own mapper reads host file and rank file of each job at full size, and says where it would put each rank.

mpirun runs with ``donotlaunch``: it maps and ends, and no host is contacted. It takes this machine for all hosts, so it is shown a
synthetic one (hwloc) with the processors of the catalog.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..launch import handed_on, of_script, reads_of, verify_files
from ..process import run
from ..script import Step, steps
from ..verdict import Verdict
from . import of_hosts

_FILES = ("mpirun.sh", "rankfile", "hostfile")
READS = tuple(f"training/*/{name}" for name in _FILES)
_LONGEST_S = 300.0
_NODE = re.compile(r"^Data for node: (\S+)\s", re.MULTILINE)
_RANK = re.compile(r"App rank: (\d+)\n.*\n\s*Binding: (.*)")


def reads(tree: Path) -> list[str]:
    """Those of READS that are in a job of its own in this tree."""
    return reads_of(tree, _FILES)


def applies(tree: Path) -> bool:
    """True when the tree holds a job that Open MPI can start."""
    return any(tree.glob("training/*/mpirun.sh"))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design``, the ``jobs`` and the ``placements``."""
    return verify_files("openmpi", "mpirun", _FILES, lambda job: True, tree, project, _ask)


def _ask(tree: Path, project: Any, names: list[str], found: programs.Found) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    for name in names:
        placement, folder, where = project.placements[name], tree / "training" / name, f"training/{name}"
        findings += of_script(f"{where}/mpirun.sh", folder / "mpirun.sh", _steps(name, placement))
        findings += of_hosts(f"{where}/hostfile", folder / "hostfile", placement)
        findings += _of_map(f"{where}/rankfile", folder, placement, project.design.pool_of(placement.hosts[0]).system, found)
    return findings


def _of_map(name: str, folder: Path, placement: Any, system: Any, found: programs.Found) -> Iterator[Diagnostic]:
    """Each rank is mapped to the host of the placement, and to cores that no other rank of the host has, on the socket of its GPU."""
    said = _mapped(folder, placement.world, system, found)
    if isinstance(said, str):
        yield finding("openmpi-refused", f"{name}: {said}")
        return
    taken: dict[tuple[str, str], int] = {}
    for rank in range(placement.world):
        host, binding = said.get(rank, (None, ""))
        if host != placement.host_of(rank):
            yield finding("rank-not-of-placement", f"{name}: Open MPI puts rank {rank} on {host}, the placement on {placement.host_of(rank)}")
            return
        socket = system.gpu_numa[placement.local_rank(rank)] if len(system.gpu_numa) == placement.gpus_per_node else None
        if socket is not None and not binding.startswith(f"package[{socket}]"):
            yield finding("rank-not-of-placement", f"{name}: Open MPI binds rank {rank} to {binding}, but its GPU hangs on socket {socket}")
            return
        other = taken.setdefault((host, binding), rank)
        if other != rank:
            yield finding("rank-not-of-placement", f"{name}: ranks {other} and {rank} share {binding} of {host}")
            return


def _mapped(folder: Path, world: int, system: Any, found: programs.Found) -> dict[int, tuple[str, str]] | str:
    """Rank → host and binding, as Open MPI prints its map; or its complaint."""
    machine = f"package:{system.sockets} core:{system.cores_per_socket} pu:{system.threads_per_core}"
    words = ["--hostfile", folder / "hostfile", "--map-by", f"rankfile:file={folder / 'rankfile'}", "-np", str(world), "--runtime-options", "donotlaunch", "--display", "map"]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as home:
        answer = run([found.path, *root, *words, "true"], env={"HWLOC_SYNTHETIC": machine, "HOME": home, "TMPDIR": home}, timeout=_LONGEST_S)
    if not answer.ok:
        return " ".join((answer.err or answer.out).replace("-" * 74, "").replace("\0", "").split())[:600] or f"mpirun ends with {answer.code}"
    out: dict[int, tuple[str, str]] = {}
    parts = _NODE.split(answer.out)
    for host, ranks in zip(parts[1::2], parts[2::2], strict=True):
        out |= {int(rank): (host, binding.strip()) for rank, binding in _RANK.findall(ranks)}
    return out


def _steps(job: str, placement: Any) -> tuple[Step, ...]:
    block = f"""
    mpirun=$(command -v "${{MPIRUN:-mpirun}}") || die "none"
    handed=()
    for name in $(handed_on); do handed+=(-x "$name"); done
    exec "$mpirun" --hostfile "$here/hostfile" --map-by "rankfile:file=$here/rankfile" -np {placement.world} \\
    "${{handed[@]}}" bash "$here/launch.sh" "$@"
    """
    return (
        Step("set -euo pipefail", "a step that fails must end the start"),
        Step(f"""die() {{ printf '%s: %s\\n' {job} "$*" >&2; exit 1; }}""", "a job that cannot start must say why and end"),
        *handed_on(),
        Step('here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)', "its own files are found from where it lies"),
        *steps(block, "the ranks must be those of the placement, by the files that were judged, with the environment of this host"),
    )
