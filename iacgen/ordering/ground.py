"""Which of the fabrics that files tell of joins the hosts of a pool, and what of it and of the pool does not meet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.model import Pool
from iacgen.diagnostics import Diagnostic, errors
from iacgen.discovery import Found, read
from iacgen.discovery import names as names_in
from iacgen.discovery.text import MAX_BYTES as MAX_BYTES

from .model import Ground

_PAGED = {"aws-instance-topology", "gcp-placement", "azure", "kubernetes"}  # their answers come in pages, and none is of a rail
_ALIKE = 0.9  # of the hosts on two rails, how many must be on both; the rest has lost a cable


class NoGround(ValueError):
    """The files tell of no fabric, or of several, that the order could be made on; the message says what to do."""


@dataclass(frozen=True)
class Source:
    """A fabric that a file tells of: its name among those of all files, the file, its kind, and the hosts that the file gives no place; ``pages``
    are further files that tell more of it."""

    name: str
    file: str
    kind: str
    hierarchy: Hierarchy
    adrift: tuple[str, ...]
    pages: tuple[str, ...] = ()


def sources(files: Sequence[tuple[bytes, str]], kind: str | None = None, names: tuple[bytes, str] | None = None) -> tuple[list[Source], list[Diagnostic]]:
    """The fabrics of all files (bytes and name of each), and what there is to say of the files. ``kind`` is that of each file, by default its
    content decides; ``names`` is a file that gives ids the names of hosts. Files of a cloud or of Kubernetes with other hosts each are pages of one answer."""
    known, findings = names_in(*names) if names else ({}, ())
    out, said = [], list(findings)
    for found, file, pages in _whole([(raw, file, read(raw, file, kind, known)) for raw, file in files], known):
        said += found.findings
        out += [Source(hierarchy.name, file, found.kind or "", hierarchy, found.adrift, pages) for hierarchy in found.hierarchies]
    times = [source.name for source in out]
    return [replace(s, name=f"{s.file}:{s.name}") if times.count(s.name) > 1 else s for s in out], said


def _whole(files: Sequence[tuple[bytes, str, Found]], known: Mapping[str, str]) -> Iterator[tuple[Found, str, tuple[str, ...]]]:
    """What each file says, its name and its further pages: those with other hosts of the same paged source are read with the first of them."""
    left = list(files)
    while left:
        raw, file, found = left.pop(0)
        held, pages = _hosts(found), []
        for other in [other for other in left if found.kind in _PAGED and other[2].kind == found.kind and raw.lstrip()[:1] in b"{[" and other[0].lstrip()[:1] in b"{["]:
            if held.isdisjoint(_hosts(other[2])) and not errors((*found.findings, *other[2].findings)):
                held |= _hosts(other[2])
                pages.append(other)
                left.remove(other)
        if pages:
            found = read(b"\n".join([raw, *(page[0] for page in pages)]), file, found.kind, known)
        yield found, file, tuple(page[1] for page in pages)


def _hosts(found: Found) -> set[str]:
    return {*found.adrift, *(host for hierarchy in found.hierarchies for host in hierarchy.hosts)}


def chosen(found: Sequence[Source], pool: Pool, everyone: Collection[str], wanted: str | None = None, ratios: Mapping[str, float] | None = None) -> Ground:
    """The ground for a pool: the fabric called ``wanted``, else the one that holds its hosts; rails of several files that part the
    hosts alike are one fabric.

    ``everyone``: hosts of all pools. ``ratios``: tier → how many times what its hosts send is what may leave a group of it. Raises NoGround.
    """
    holding = [s for s in found if wanted in (None, s.name) and not set(pool.hosts).isdisjoint(s.hierarchy.hosts)]
    if not holding:
        raise NoGround(_nothing(found, pool, wanted))
    first = max(holding, key=lambda s: len(set(pool.hosts) & set(s.hierarchy.hosts)))
    hierarchy, files = first.hierarchy, dict.fromkeys((first.file, *first.pages))
    for other in (s for s in holding if s is not first):
        joined = _rails(hierarchy, other.hierarchy) if other.file not in files else None  # what one file keeps apart is apart
        if joined is None:
            held = ", ".join(f"{s.name} ({len(set(pool.hosts) & set(s.hierarchy.hosts)):,} of its hosts)" for s in holding)
            raise NoGround(f"several fabrics join the hosts of pool {pool.name}: {held}; name one with --fabric")
        hierarchy = joined
        files[other.file] = None
    nic = pool.system.nics.get("compute")
    rate = nic.count * nic.gbps * 1e9 / 8 if nic else hierarchy.node_Bps
    if rate is None:
        raise NoGround(f"neither the catalog nor {first.file} tells the rate of the adapters of {pool.system.name}")
    hierarchy = _limited(hierarchy, ratios or {}, rate)
    strangers = tuple(host for host in hierarchy.hosts if host not in everyone)
    adrift = tuple(dict.fromkeys(host for s in holding for host in s.adrift))
    return Ground(first.name, first.kind, tuple(files), hierarchy, strangers, adrift, tuple(_open(hierarchy)))


def _nothing(found: Sequence[Source], pool: Pool, wanted: str | None) -> str:
    names = ", ".join(s.name for s in found)
    if wanted is not None and wanted not in {s.name for s in found}:
        return f"the files tell of no fabric {wanted}; there is {names}"
    there = next((host for s in found for host in s.hierarchy.hosts), "")
    return f"no host of pool {pool.name}, such as {pool.host(0)}, is on {names}, where hosts have names such as {there}; give their names with --names"


def leaving(hierarchy: Hierarchy) -> int:
    """How many tiers, from the hosts upwards, have groups that something leaves: all but a last one that joins everything."""
    return len(hierarchy.tiers) - (len(hierarchy.groups[-1]) == 1 and len(hierarchy.tiers) > 1)


def _open(hierarchy: Hierarchy) -> list[str]:
    """Tiers of whose uplinks some are not told."""
    return [hierarchy.tiers[k] for k in range(leaving(hierarchy)) if len(hierarchy.groups[k]) > 1 and np.isinf(hierarchy.uplink_Bps[k]).any()]


def _limited(hierarchy: Hierarchy, ratios: Mapping[str, float], rate: float) -> Hierarchy:
    """With uplinks of so many hosts at ``rate``, over the ratio, for the tiers named. Raises NoGround for another tier."""
    tiers = hierarchy.tiers[: leaving(hierarchy)]
    if unknown := [tier for tier in ratios if tier not in tiers]:
        raise NoGround(f"{hierarchy.name} has no tier {unknown[0]} with uplinks; there is {', '.join(tiers)}")
    uplinks = list(hierarchy.uplink_Bps)
    for tier, ratio in ratios.items():
        k = tiers.index(tier)
        uplinks[k] = np.bincount(hierarchy.labels[k], minlength=len(hierarchy.groups[k])) * rate / ratio
    return replace(hierarchy, uplink_Bps=tuple(uplinks))


def _rails(one: Hierarchy, other: Hierarchy) -> Hierarchy | None:
    """Both as one fabric, whose uplinks and adapters are those of both together; None where they do not part the same hosts in the same groups."""
    common = [host for host in one.hosts if host in other.index]
    if len(common) < _ALIKE * (len(one.hosts) + len(other.hosts) - len(common)) or len(one.tiers) != len(other.tiers):
        return None
    mine, theirs = one.only(common).labels, other.only(common).labels
    if any(len(np.unique(np.stack(pair), axis=1).T) != len(np.unique(pair[0])) or len(np.unique(pair[0])) != len(np.unique(pair[1])) for pair in zip(mine, theirs, strict=True)):
        return None
    uplinks = tuple(_sum(a, b, m, t) for a, b, m, t in zip(one.uplink_Bps, other.uplink_Bps, mine, theirs, strict=True))
    rate = one.node_Bps + other.node_Bps if one.node_Bps and other.node_Bps else None
    return replace(one, uplink_Bps=uplinks, node_Bps=rate)


def _sum(mine: NDArray[np.float64], theirs: NDArray[np.float64], labels: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
    out = mine.copy()
    for group, other in dict(zip(labels.tolist(), others.tolist(), strict=True)).items():
        out[group] += theirs[other]
    return out
