"""What a change of each key means for a cluster that runs: one table a section of the language, in the order in which rules are asked."""

from __future__ import annotations

from collections.abc import Mapping

from ..rule import Table
from . import cluster, fabrics, inputs, models, nodes, scheduler, sites, software, storage, training

POLICIES: Mapping[str, Table] = {
    section: table for room in (cluster, sites, nodes, fabrics, storage, scheduler, models, training, inputs, software) for section, table in room.TABLES.items()
}

__all__ = ["POLICIES"]
