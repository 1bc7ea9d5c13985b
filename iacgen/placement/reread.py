"""The emitted order read back: each written file again as ranks on hosts, and what is wrong with them.

Written apart from what writes the files, after what their readers do: a mistake there must not be read back as right here. The cost of
an order is to be computed from what :func:`reread` gives, not from what was in memory.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from iacgen.diagnostics import Diagnostic

_HOST = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_MASTER = re.compile(r"""(?:\bMASTER_ADDR=|--master-addr=|-\ name:\ MASTER_ADDR\n\s+value:\ )["']?([A-Za-z0-9][A-Za-z0-9._-]*)""", re.VERBOSE)


@dataclass(frozen=True)
class Ranks:
    """What one file says, in rank order: the host of each rank, its local rank there, and its ``share`` of the host, empty where the file
    gives none."""

    file: str
    hosts: tuple[str, ...]
    local: tuple[int, ...]
    share: tuple[str, ...] = ()


def reread(files: Mapping[str, str], slots: int, idle: Collection[str]) -> tuple[tuple[str, ...], list[Diagnostic]]:
    """(host of each virtual node in rank order, findings) from files of an order by name: ``hostfile``, ``rankfile``, ``*.ranks``,
    ``node-ranks``, ``indexes.csv``, ``indexed-job.yaml``; scripts (``*.sh``, ``*.sbatch``) only for their MASTER_ADDR, any other is left alone.

    A folder in front of a name does not matter. ``slots``: ranks of a host. ``idle``: hosts that a job may get. Without findings each
    rank stands once, each host has ``slots`` ranks in a row of which the first is its local rank 0, so that equal local ranks sit on
    equal rails, no host is taken that is not idle, all files agree, and MASTER_ADDR is the host of rank 0. The hosts are those of the
    first file in the order above; none where that one cannot be read.
    """
    found, faults = [], []
    for name, text in sorted(files.items(), key=lambda item: (_place(item[0]), item[0])):
        try:
            if reader := _reader(name):
                found.append(reader(name, text, slots))
        except ValueError as error:
            faults.append(f"{name}: {error}")
    for ranks in found:
        faults += [f"{ranks.file}: {fault}" for fault in _faults(ranks, slots, set(idle))]
    if not found:
        return (), [_finding(fault) for fault in faults or ["no file of them has an order"]]
    hosts = found[0].hosts[::slots]
    for ranks in (ranks for ranks in found[1:] if ranks.hosts != found[0].hosts):
        rank = next((r for r, (a, b) in enumerate(zip(ranks.hosts, found[0].hosts, strict=False)) if a != b), min(len(ranks.hosts), len(found[0].hosts)))
        faults.append(f"{ranks.file}: rank {rank} is not where {found[0].file} has it")
    faults += [f"{name}: MASTER_ADDR is {master}, and rank 0 sits on {hosts[0]}" for name, master in _masters(files) if hosts and master != hosts[0]]
    return hosts, [_finding(fault) for fault in faults]


def of_hostfile(name: str, text: str, slots: int) -> Ranks:
    """``host slots=N``: launchers count ranks host by host, in the order of the lines (DeepSpeed runner, PRRTE, Horovod)."""
    rows = [_match(rf"({_HOST}) slots=(\d+)", line, number) for number, line in _lines(text)]
    counted = [(host, local) for host, count in rows for local in range(min(_number(count), slots + 1))]  # one too many is wrong enough
    return Ranks(name, tuple(host for host, _ in counted), tuple(local for _, local in counted))


def of_rankfile(name: str, text: str, slots: int) -> Ranks:
    """``rank R=host slot=CORES``, in any order of the lines (PRRTE, rmaps rank_file)."""
    rows = [_match(rf"rank (\d+)=({_HOST}) slot=(\S+)", line, number) for number, line in _lines(text)]
    by_rank = {int(rank): (host, share) for rank, host, share in rows}
    if len(by_rank) != len(rows) or sorted(by_rank) != list(range(len(rows))):
        raise ValueError(f"the ranks are not 0 to {len(rows) - 1}, each once")
    hosts = tuple(by_rank[rank][0] for rank in range(len(rows)))
    return Ranks(name, hosts, _counted(hosts), tuple(by_rank[rank][1] for rank in range(len(rows))))


def of_slurm(name: str, text: str, slots: int) -> Ranks:
    """SLURM_HOSTFILE: one bare name a line, line k + 1 is rank k; the tasks of a node are numbered as they come (22.05 to 26.05)."""
    hosts = tuple(_match(rf"({_HOST})", line, number)[0] for number, line in _lines(text))
    return Ranks(name, hosts, _counted(hosts))


def of_node_ranks(name: str, text: str, slots: int) -> Ranks:
    """``host rank``: the number of a node for ``torchrun --node-rank``, which gives it the ranks from ``slots`` times that on."""
    return _of_nodes(name, [_match(rf"({_HOST}) (\d+)", line, number) for number, line in _lines(text)], slots)


def of_indexes(name: str, text: str, slots: int) -> Ranks:
    """The table of completion indexes; its ranks must be those of the index."""
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
    except csv.Error as error:
        raise ValueError(f"no table: {error}") from None
    for row in rows:
        index = _number(row.get("completion_index"))
        if (_number(row.get("first_rank")), _number(row.get("last_rank"))) != (index * slots, (index + 1) * slots - 1):
            raise ValueError(f"index {index} has the ranks {row.get('first_rank')} to {row.get('last_rank')}")
    return _of_nodes(name, [(row.get("node") or "", row["completion_index"]) for row in rows], slots)


def of_indexed_job(name: str, text: str, slots: int) -> Ranks:
    """The ConfigMap's table of an Indexed Job; pods come to the nodes of its affinity and to no other."""
    table = re.search(r"^  node-ranks: \|\n((?:    .+\n)+)", text, re.MULTILINE)
    listed = re.search(r"^ +values:\n((?: +- .+\n)+)", text, re.MULTILINE)
    if not table or not listed:
        raise ValueError("no table of node ranks, or no list of nodes")
    ranks = of_node_ranks(name, "".join(f"{line.strip()}\n" for line in table[1].splitlines()), slots)
    nodes = [line.strip().removeprefix("- ").strip('"') for line in listed[1].splitlines()]
    if Counter(nodes) != Counter(ranks.hosts[::slots]):
        raise ValueError("the nodes of the affinity are not those of the table")
    return ranks


_READERS: Mapping[str, Callable[[str, str, int], Ranks]] = {
    "hostfile": of_hostfile,
    "rankfile": of_rankfile,
    ".ranks": of_slurm,
    "node-ranks": of_node_ranks,
    "indexes.csv": of_indexes,
    "indexed-job.yaml": of_indexed_job,
}


def _place(name: str) -> int:
    return next((i for i, ending in enumerate(_READERS) if _is(name, ending)), len(_READERS))


def _reader(name: str) -> Callable[[str, str, int], Ranks] | None:
    return next((reader for ending, reader in _READERS.items() if _is(name, ending)), None)


def _is(name: str, ending: str) -> bool:
    return name.endswith(ending) if ending.startswith(".") else name.rpartition("/")[2] == ending


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1. Raises ValueError where the last has no end, or an end is not a line feed alone."""
    if not text.endswith("\n") or "\r" in text:
        raise ValueError("lines end with a line feed alone, the last one too")
    return enumerate(text.removesuffix("\n").split("\n"), 1)


def _match(pattern: str, line: str, number: int) -> tuple[str, ...]:
    found = re.fullmatch(pattern, line, re.ASCII)
    if found is None:
        raise ValueError(f"line {number}: {line!r} is not of the form of this file")
    return found.groups()


def _number(text: str | None) -> int:
    if not text or not re.fullmatch("[0-9]{1,9}", text, re.ASCII):
        raise ValueError(f"{text!r} is no number")
    return int(text)


def _of_nodes(name: str, rows: Sequence[tuple[str, ...]], slots: int) -> Ranks:
    by_rank = {_number(rank): host for host, rank in rows}
    if len(by_rank) != len(rows) or sorted(by_rank) != list(range(len(rows))):
        raise ValueError(f"the nodes are not numbered 0 to {len(rows) - 1}, each once")
    nodes = [by_rank[rank] for rank in range(len(rows))]
    return Ranks(name, tuple(host for host in nodes for _ in range(slots)), tuple(range(slots)) * len(nodes))


def _counted(hosts: Sequence[str]) -> tuple[int, ...]:
    """Local ranks, where a launcher numbers those of a host as they come."""
    seen: Counter[str] = Counter()
    out = []
    for host in hosts:
        out.append(seen[host])
        seen[host] += 1
    return tuple(out)


def _faults(ranks: Ranks, slots: int, idle: set[str]) -> Iterator[str]:
    counts = Counter(ranks.hosts)
    uneven = [host for host, n in counts.items() if n != slots]
    if uneven:
        yield f"{_some(uneven)}: not {slots} ranks each"
    if strange := set(counts) - idle:
        yield f"{_some(strange)}: not among the idle hosts of the pool"
    apart = next((r for r, host in enumerate(ranks.hosts) if host != ranks.hosts[r - r % slots] or ranks.local[r] != r % slots), None)
    if apart is not None:
        yield f"rank {apart} is local rank {ranks.local[apart]} on {ranks.hosts[apart]}, and not number {apart % slots} of the ranks of one host: rails would mix"
    elif odd := next((r for r, share in enumerate(ranks.share) if share != ranks.share[r % slots]), None):
        yield f"rank {odd} has slot {ranks.share[odd]}, and local rank {odd % slots} has {ranks.share[odd % slots]} elsewhere"


def _masters(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(file, host) wherever one is written: in a script or a manifest, as a word and not as something to be worked out there."""
    for name, text in sorted(files.items()):
        if name.endswith((".sh", ".sbatch", ".yaml", ".env")):
            yield from ((name, host) for host in _MASTER.findall(text))


def _finding(fault: str) -> Diagnostic:
    return Diagnostic("IAC405", "emitted-order-at-odds", "error", fault, help="generate the files again: one of them was changed by hand, or written for another order")


def _some(names: Collection[str], most: int = 3) -> str:
    listed = sorted(names)
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
