"""Blocks of topology/block: what a file must hold, what Slurm has read, and whether the jobs of the blueprint would get their hosts.

What slurmctld takes in silence was tried on 24.11.5 and 26.05.5: a host in two blocks, a name that is none, a host in no block. So was
which fixed node lists 24.11.5 refuses (:func:`unreachable`). Nothing here looks at what the Slurm target wrote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding, some
from .files import Line, expand, lines

Hosts = frozenset[str]
_MOST = 64  # characters of a name that 24.11 starts with


@dataclass(frozen=True)
class Blocks:
    """The host sets of the blocks in the order of the file, their names, and the hosts that each aggregate holds, size by size."""

    order: tuple[Hosts, ...]
    names: Mapping[Hosts, str]
    aggregates: Mapping[int, frozenset[Hosts]]


def check_blocks(text: str, nodes: Collection[str], racks: Collection[Hosts]) -> list[Diagnostic]:
    """A topology.conf whose blocks are the NVLink domains ``racks``, each of ``nodes`` in one, with sizes that 24.05 and later take."""
    try:
        parsed = list(lines(text))
    except ValueError as error:
        return [finding("malformed-topology", f"topology.conf: {error}")]
    faults = [fault for line in parsed for fault in _line_faults(line)] or [*_file_faults(parsed, nodes)]
    if not faults:
        made = {frozenset(expand(line.get("Nodes"))): line.get("BlockName") for line in parsed if line.kind == "blockname"}
        faults += [f"block {made[hosts]} is no NVLink domain" for hosts in sorted(set(made) - set(racks), key=lambda hosts: made[hosts])]
        faults += [f"no block is the NVLink domain of {some(rack)}" for rack in sorted(set(racks) - set(made), key=sorted)]
    return [finding("malformed-topology", f"topology.conf: {fault}") for fault in faults]


def _line_faults(line: Line) -> Iterator[str]:
    keys, name = {key.lower() for key, _ in line.pairs}, line.get("BlockName")
    if keys != ({"blocksizes"} if line.kind == "blocksizes" else {"blockname", "nodes"}):
        yield f"line {line.number}: a block has a BlockName and Nodes, and BlockSizes stand alone; not {', '.join(sorted(keys))}"
    elif line.kind == "blockname" and (not name or re.search(r"[\[\],]", name) or len(name) > _MOST):
        yield f"line {line.number}: {name!r} is not the name of one block, of {_MOST} characters at most"
    else:
        try:
            expand(line.get("Nodes"))
        except ValueError as error:
            yield f"line {line.number}: {error}"


def _file_faults(parsed: Sequence[Line], nodes: Collection[str]) -> Iterator[str]:
    blocks = [line for line in parsed if line.kind == "blockname"]
    held = Counter(node for line in blocks for node in expand(line.get("Nodes")))
    wrong = {
        "in no block": set(nodes) - set(held),
        "unknown to slurm.conf": set(held) - set(nodes),
        "in two blocks": {node for node, n in held.items() if n > 1},
    }
    yield from (f"{some(names)}: {what}" for what, names in wrong.items() if names)
    yield from (f"block {name} is defined {n} times" for name, n in Counter(line.get("BlockName") for line in blocks).items() if n > 1)
    sizes = [line.get("BlockSizes") for line in parsed if line.kind == "blocksizes"]
    if len(sizes) != 1:
        yield f"{len(sizes)} lines of BlockSizes, and 24.05 and later want one"
        return
    if not re.fullmatch("[1-9][0-9]{0,5}(,[1-9][0-9]{0,5})*", sizes[0]):
        yield f"BlockSizes={sizes[0]} is no list of sizes"
        return
    numbers = [int(size) for size in sizes[0].split(",")]
    least = min((len(set(expand(line.get("Nodes")))) for line in blocks), default=0)
    if any(size % numbers[0] or (size // numbers[0]).bit_count() != 1 for size in numbers) or numbers != sorted(set(numbers)):
        yield f"BlockSizes={sizes[0]}: each must be the first one times a power of two, in rising order"
    if numbers[0] > least:
        yield f"BlockSizes={sizes[0]}: the smallest block has {least} nodes, and slurmctld ends at one below the first size"
    if numbers[-1] > sum(held.values()):
        yield f"BlockSizes={sizes[0]}: there are {sum(held.values())} nodes"


def read_blocks(show_topology: str) -> Blocks:
    """What ``scontrol show topology`` prints: BlockName lines in the order of the file, and AggregatedBlock lines."""
    parsed = list(lines(show_topology))
    plain = [(frozenset(expand(line.get("Nodes"))), line.get("BlockName")) for line in parsed if line.kind == "blockname"]
    of_size: dict[int, set[Hosts]] = {}
    for line in (line for line in parsed if line.kind in ("blockname", "aggregatedblock")):
        of_size.setdefault(int(line.get("BlockSize")), set()).add(frozenset(expand(line.get("Nodes"))))
    return Blocks(tuple(hosts for hosts, _ in plain), dict(plain), {size: frozenset(sets) for size, sets in of_size.items()})


def block_differences(racks: Collection[Hosts], got: Blocks) -> list[str]:
    """How the blocks that Slurm has read differ from the NVLink domains; empty when they do not."""
    out = [f"block {got.names[hosts]} is no NVLink domain" for hosts in got.order if hosts not in racks]
    return out + [f"no block is the NVLink domain of {some(rack)}" for rack in sorted(set(racks) - set(got.order), key=sorted)]


def unreachable(hosts: Collection[str], got: Blocks) -> str:
    """Why Slurm would refuse a job on exactly these hosts; empty where it would not.

    They must lie in one aggregate of the least size that holds the job, and in as few of the size below it as the job fills, or of the
    largest (24.11.5 and 26.05.5, tried with 1,550 node lists). Blocks at the end that make no whole aggregate count as one, which
    Slurm does not print.
    """
    above, below = [s for s in sorted(got.aggregates) if s >= len(hosts)], [s for s in sorted(got.aggregates) if s < len(hosts)]
    for size in (*above[:1], *below[-1:]):
        rest = frozenset().union(*got.order) - frozenset().union(*got.aggregates[size])
        touched, most = sum(1 for one in (*got.aggregates[size], rest) if one & set(hosts)), -(-len(hosts) // size)
        if touched > most:
            return f"its {len(hosts)} hosts lie in {touched} blocks of size {size}, and Slurm gives it {most}"
    return ""


def check_reach(show_topology: str, project: Any) -> list[Diagnostic]:
    """A finding for each job that would get no hosts under the blocks that Slurm has read."""
    got = read_blocks(show_topology)
    told = ((job, unreachable(placement.hosts, got)) for job, placement in sorted(project.placements.items()))
    return [finding("batch-script", f"{job}.sbatch: {why}", ("training", job)) for job, why in told if why]
