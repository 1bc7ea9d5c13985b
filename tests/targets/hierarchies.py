"""Hierarchies written down by their groups, for the tests of what is made from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.verify.slurm.files import expand


@dataclass(frozen=True)
class Case:
    """One fabric of ``hierarchies.yaml`` and what Slurm is to know of it: the hosts below each switch, and the switches without a parent."""

    id: str
    hierarchy: Hierarchy
    tree: dict[str, frozenset[str]]
    roots: tuple[str, ...]


def made(name: str, tiers: dict[str, dict[str, str]], domains: dict[str, str] | None = None) -> Hierarchy:
    """A hierarchy from tier → name of a group → its hosts as a hostlist. The hosts of the first tier are all."""
    hosts = [host for text in next(iter(tiers.values())).values() for host in expand(text)]
    at = {host: i for i, host in enumerate(hosts)}
    labels = np.zeros((len(tiers), len(hosts)), dtype=np.int64)
    for row, groups in zip(labels, tiers.values(), strict=True):
        for number, text in enumerate(groups.values()):
            row[[at[host] for host in expand(text)]] = number
    of = {host: domain for domain, text in (domains or {}).items() for host in expand(text)}
    joined = tuple(of.get(host) for host in hosts) if domains else ()
    return Hierarchy(name, tuple(hosts), tuple(tiers), tuple(tuple(groups) for groups in tiers.values()), labels, domains=joined)


def cases() -> list[Case]:
    """All of the file."""
    rows: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parents[1] / "cases" / "slurm" / "hierarchies.yaml").read_text())
    trees = [{name: frozenset(expand(text)) for name, text in row["tree"].items()} for row in rows]
    return [Case(row["id"], made(row["id"], row["tiers"], row.get("domains")), tree, tuple(row["roots"])) for row, tree in zip(rows, trees, strict=True)]
