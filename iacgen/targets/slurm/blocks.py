"""NVLink domains as the blocks of topology/block, and the sizes in which Slurm hands them out.

What a job with a fixed node list needs was tried on 24.11.5 and 26.05.5, with 1,050 and 500 random lists over equal and unequal blocks: it
must lie in one aggregate of the least size that holds it, and in as few of the size below it as it fills, or of the largest.
A node in no block gets no job at all, and ``--segment`` beside ``--nodelist`` is refused (25.11 allows it in part), so no script says it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ...design.fabric.hierarchy import Hierarchy
from ...diagnostics import Diagnostic
from ...render import fold

BLOCKS_SINCE = (24, 5)
"""The first version with BlockSizes; topology/block itself came with 23.11 (Slurm's release notes)."""
SMALLER_BLOCKS_SINCE = (25, 5)
"""Before it slurmctld ends at a block that is smaller than the first size (Slurm's release notes; tried on 24.11.5 and 26.05.5)."""


@dataclass(frozen=True)
class Block:
    """One BlockName line: ``nodes`` is a hostlist, ``domain`` the NVLink domain that it stands for."""

    name: str
    domain: str
    nodes: str


@dataclass(frozen=True)
class Blocks:
    """All blocks in the order of the fabric, which is that of their names too, and the sizes of BlockSizes.

    ``whole`` is the first size that domains alone would have: above that of ``sizes`` where some job needs a smaller one.
    """

    blocks: tuple[Block, ...]
    sizes: tuple[int, ...]
    whole: int


def blocks(of: Iterable[Hierarchy], version: tuple[int, int], jobs: Collection[Sequence[str]] = (), wanted: Sequence[int] = ()) -> Blocks | Diagnostic:
    """The NVLink domains as blocks, or why there can be none. ``jobs``: the host lists of jobs that are to run on exactly these. ``wanted``: the
    sizes to be, in place of those below; refused where Slurm, or one of the jobs, would not have them.

    Sizes begin with that of most domains, before 25.05 with that of the smallest, and double up to as many whole blocks as there are,
    never above all their hosts. Sizes under which one of ``jobs`` would be refused are left out, from the largest on; where even the
    first alone refuses one, it is the largest smaller one that does not.
    """
    pairs = [(host, domain) for hierarchy in of for host, domain in zip(hierarchy.hosts, hierarchy.domains or (None,) * len(hierarchy.hosts), strict=True)]
    members: dict[str, list[str]] = {}
    for host, domain in pairs:
        if domain:
            members.setdefault(domain, []).append(host)
    outside = [host for host, domain in pairs if not domain]
    if not members:
        return _refused("no NVLink domain of several hosts is known, and only such are blocks")
    if outside:
        return _refused(f"{fold(outside)}: in no NVLink domain, and Slurm would give these hosts no job")
    if version < BLOCKS_SINCE:
        return _refused(f"Slurm {version[0]}.{version[1]:02d} has no BlockSizes: they came with 24.05")
    width = len(str(len(members)))
    made = tuple(Block(f"block{number:0{width}d}", domain, fold(hosts)) for number, (domain, hosts) in enumerate(members.items(), 1))
    number_of = {host: number for number, hosts in enumerate(members.values()) for host in hosts}
    used = [[number_of[host] for host in job] for job in jobs]
    many = [len(hosts) for hosts in members.values()]
    if wanted:
        wrong = unfit(many, wanted, used)
        return _refused(wrong) if wrong else Blocks(made, tuple(wanted), wanted[0])
    return Blocks(made, sizes(many, version, used), sizes(many, version)[0])


def sizes(members: Sequence[int], version: tuple[int, int], jobs: Collection[Sequence[int]] = ()) -> tuple[int, ...]:
    """BlockSizes for blocks of ``members`` hosts each. ``jobs``: the numbers, from 0, of the blocks that hold their hosts, host by host."""
    common = max(Counter(members).items(), key=lambda item: (item[1], item[0]))[0]
    first = common if version >= SMALLER_BLOCKS_SINCE else min(members)
    while not all(runs(job, (first,)) for job in jobs):  # ends at 1: each host then is as good as any
        first -= 1
    out = [first << n for n in range(len(members).bit_length()) if first << n <= sum(members)]
    while not all(runs(job, out) for job in jobs):
        out.pop()
    return tuple(out)


def unfit(members: Sequence[int], wanted: Sequence[int], jobs: Collection[Sequence[int]] = ()) -> str | None:
    """Why blocks of ``members`` hosts cannot have these BlockSizes; None where they can.

    Slurm ends at a first size above a block, before 25.05, and at a size that is not the first one times a power of two (tried on 24.11.5 and
    26.05.5). A size above all hosts would serve no job.
    """
    base, said = wanted[0], f"block sizes {','.join(map(str, wanted))}"
    if any(a >= b for a, b in zip((0, *wanted), wanted, strict=False)):
        return f"{said}: whole numbers from 1 on are wanted, the least first, each once"
    if base > min(members):
        return f"{said}: the smallest block has {min(members)} hosts, and the first size may not be above that"
    if wrong := [size for size in wanted if size % base or (size // base).bit_count() != 1]:
        return f"{said}: {wrong[0]} is not {base} times a power of two"
    if wanted[-1] > sum(members):
        return f"{said}: {wanted[-1]} is above the {sum(members)} hosts that there are in all blocks"
    if cut := [job for job in jobs if not runs(job, wanted)]:
        return f"{said}: Slurm would not give a job of {len(cut[0])} hosts the ones that it is placed on"
    return None


def runs(job: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether Slurm gives a job exactly the hosts that it asks for: ``job`` has the number of the block of each."""
    asked = [*[size for size in sizes if size >= len(job)][:1], *[size for size in sizes if size < len(job)][-1:]]
    return all(len({block // (size // sizes[0]) for block in job}) <= -(-len(job) // size) for size in asked)


def _refused(why: str) -> Diagnostic:
    help = "leave scheduler.topology out: the domains are then the leaves of a tree"
    return Diagnostic("IAC664", "blocks-without-domains", "error", f"topology/block: {why}", ("scheduler", "topology"), help=help)
