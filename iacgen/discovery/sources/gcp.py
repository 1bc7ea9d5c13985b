"""``gcloud compute instances list`` or ``describe`` with ``--format=json`` → where Google Cloud says that each instance runs.

Source: Compute Engine API v1, instances: resourceStatus.physicalHost is /cluster/rack/host; resourceStatus.physicalHostTopology has
cluster, block, subblock and host. The host is the machine itself and no switch. Neither tells a speed or an NVLink domain.
"""

from __future__ import annotations

from typing import Any

from ..fields import Fields
from ..wiring import Wiring
from .paths import Place, wired


def items(values: list[Any]) -> list[Any]:
    """The instances: of lists, or one behind the other."""
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def is_so(values: list[Any]) -> bool:
    """Whether these are instances of Compute Engine."""
    some = items(values)
    return bool(some) and all(isinstance(i, dict) for i in some) and any(i.get("kind") == "compute#instance" or isinstance(i.get("resourceStatus"), dict) for i in some)


def read(values: list[Any], fields: Fields, wiring: Wiring) -> None:
    """Instances by name."""
    places = []
    words: tuple[str, ...] = ()
    for where, item in fields.each(items(values), "instances"):
        host = fields.text(item, "name", where)
        if host is None:
            fields.wrong(where, "name is wanted")
            continue
        zone = (fields.text(item, "zone", where) or "").rpartition("/")[2]
        path, said = _path(fields, fields.map(item, "resourceStatus", where), f"{where}.resourceStatus")
        words = max(words, said, key=len)
        wiring.of_type(host, (fields.text(item, "machineType", where) or "").rpartition("/")[2])
        places.append(Place(host, path, zone))
    wired(wiring, places, words)


def _path(fields: Fields, status: dict[str, Any], where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(what the instance lies in from the cluster down, a word for each), without the machine."""
    topology = fields.map(status, "physicalHostTopology", where)
    steps = [(fields.text(topology, word, f"{where}.physicalHostTopology"), word) for word in ("cluster", "block", "subblock")]
    if any(step for step, _ in steps):
        return tuple(step for step, _ in steps if step), tuple(word for step, word in steps if step)
    parts = [part for part in (fields.text(status, "physicalHost", where) or "").split("/") if part]
    return tuple(parts[:-1]), ("cluster", "rack")[: len(parts[:-1])] if len(parts) <= 3 else ()
