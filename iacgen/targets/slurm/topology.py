"""Fabrics, planned and discovered alike, as the trees that Slurm wants."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...design.fabric.hierarchy import Hierarchy
from ...design.fabric.planned import of_fabric
from ...design.model import Design, Pool
from ...render import fold

MAX_NAME = 64  # 24.11 does not start with a longer switch name
_UNFIT = re.compile(r"[^A-Za-z0-9._-]")  # a bracket or comma is a list for Slurm, a blank or # ends the word

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Switch:
    """One line of topology.conf: a leaf with ``nodes`` or a parent with ``children``, both hostlists."""

    name: str
    nodes: str = ""
    children: str = ""


@dataclass(frozen=True)
class Tree:
    """All switches, leaves before their parent, and the names of those that have no parent."""

    switches: tuple[Switch, ...]
    roots: tuple[str, ...]


@dataclass(frozen=True)
class _Level:
    """Hosts in parts: ``labels`` gives the part of each, ``names`` those of the parts; ``word`` is what such a part is called.

    ``plain`` is that of a level whose parts need not be told from an only child: what joins the domains of one leaf group.
    """

    word: str
    labels: Labels
    names: tuple[str, ...]
    plain: bool = False

    @property
    def parts(self) -> list[int]:
        """Those with a host, in their own order."""
        return [int(part) for part in np.unique(self.labels)]

    def within(self, other: _Level) -> bool:
        """Whether each part lies in one part of ``other``."""
        return len(np.unique(np.stack([self.labels, other.labels]), axis=1).T) == len(self.parts)


@dataclass
class _Names:
    """Names that Slurm reads and that stand once, whatever the source calls its switches."""

    taken: set[str] = field(default_factory=set)

    def new(self, name: str, word: str) -> str:
        plain = _limited(_UNFIT.sub("-", name) or word)
        tries = (plain, _limited(f"{plain}-{word}"), *(_limited(f"{plain}-{word}-{n}") for n in range(2, len(self.taken) + 3)))
        out = next(one for one in tries if one not in self.taken)
        self.taken.add(out)
        return out


def hierarchies(design: Design, pools: Sequence[Pool]) -> tuple[Hierarchy, ...]:
    """What joins the hosts of ``pools``: their compute fabrics, and for each pool on none one switch of its own."""
    fabrics = [f for f in design.fabrics.values() if f.purpose == "compute" and any(p.name in f.pools for p in pools)]
    wanted = {host for pool in pools for host in pool.hosts}
    on_fabric = {name for fabric in fabrics for name in fabric.pools}
    planned = [of_fabric(fabric, [host for host in fabric.hosts if host in wanted], design.pools) for fabric in fabrics]
    loose = [pool for pool in pools if pool.name not in on_fabric]
    alone = [Hierarchy(f"pool-{p.name}", p.hosts, ("pool",), ((f"pool-{p.name}",),), np.zeros((1, p.count), dtype=np.int64)) for p in loose]
    return (*planned, *alone)


def topology(design: Design, pools: Sequence[Pool]) -> Tree:
    """The tree over the hosts of ``pools``."""
    return tree(hierarchies(design, pools))


def tree(of: Iterable[Hierarchy]) -> Tree:
    """One tree for each hierarchy, and for each of its islands; groups without hosts do not stand in it.

    A switch for each group of a tier, but for a pod that is alone below what joins all. Where NVLink joins several hosts its domains
    are the leaves: within them GPUs talk many times faster, so they are what a job must not be cut across. A tier whose groups do not
    hold whole domains is left out, since a tree has no place for it. Names are cut to what Slurm reads.
    """
    names = _Names()
    trees = [_of_hierarchy(hierarchy, names) for hierarchy in of if hierarchy.hosts]
    return Tree(tuple(s for one in trees for s in one.switches), tuple(root for one in trees for root in one.roots))


def _of_hierarchy(hierarchy: Hierarchy, names: _Names) -> Tree:
    first, *above = _levels(hierarchy)
    hosts = np.array(hierarchy.hosts)
    name = {part: names.new(first.names[part], first.word) for part in first.parts}
    out = [Switch(name[part], nodes=fold(hosts[first.labels == part])) for part in first.parts]
    below = first
    for level in above:
        inside = {part: list(dict.fromkeys(int(x) for x in below.labels[level.labels == part])) for part in level.parts}
        over: dict[int, str] = {}
        for part, parts in inside.items():
            if level.plain and len(parts) == 1:
                over[part] = name[parts[0]]
                continue
            over[part] = names.new(level.names[part], level.word)
            out.append(Switch(over[part], children=fold(name[one] for one in parts)))
        below, name = level, over
    return Tree(tuple(out), tuple(dict.fromkeys(name.values())))


def _levels(hierarchy: Hierarchy) -> Iterator[_Level]:
    tiers = [_Level(*words, plain=False) for words in zip(hierarchy.tiers, hierarchy.labels, hierarchy.groups, strict=True)]
    below = _domains(hierarchy, tiers[0]) if any(hierarchy.domains) else tiers[0]
    yield below
    for number, level in enumerate(tiers):
        if level is below or not below.within(level):
            continue
        last = number == len(tiers) - 1
        if number == 0:
            level = _Level(level.word, level.labels, level.names, plain=True)
        elif not last and len(level.parts) < 2:
            continue
        yield level
        below = level


def _domains(hierarchy: Hierarchy, leaf: _Level) -> _Level:
    """The NVLink domains; hosts in none are what is left of their leaf group, or all of it."""
    joined = {int(x) for x, domain in zip(leaf.labels, hierarchy.domains, strict=True) if domain}
    keys = [(True, d) if d else (False, f"{leaf.names[x]}-rest" if x in joined else leaf.names[x]) for d, x in zip(hierarchy.domains, leaf.labels, strict=True)]
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return _Level("domain", np.array([number[key] for key in keys], dtype=np.int64), tuple(name for _, name in number))


def _limited(name: str) -> str:
    """The name, or its beginning and a digest of the whole where it is longer than Slurm allows."""
    if len(name) <= MAX_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: MAX_NAME - len(digest) - 1]}-{digest}"
