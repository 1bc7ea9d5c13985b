"""Facts about GPUs, TPUs, systems, adapters, switches, models and clouds, each figure with its source and date.

``gpu("h100-sxm")`` and its sisters read one small file and keep it; an id that is not there raises UnknownEntry with the
nearest spellings. ``ids(kind)`` lists a shelf without reading it.
"""

from __future__ import annotations

from typing import cast

from iacgen.catalog.cables import Cable, Transceiver
from iacgen.catalog.clouds import Cloud
from iacgen.catalog.entry import Entry, Source
from iacgen.catalog.gpus import Gpu
from iacgen.catalog.models import Model, Shape
from iacgen.catalog.nics import Nic
from iacgen.catalog.shelves import KINDS, BrokenEntry, UnknownEntry, ids, take
from iacgen.catalog.switches import Switch
from iacgen.catalog.systems import CloudType, HostNic, System
from iacgen.catalog.tpus import Tpu
from iacgen.diagnostics.nearest import near

__all__ = [
    "KINDS", "BrokenEntry", "Cable", "Cloud", "CloudType", "Entry", "Gpu", "HostNic", "Model", "Nic", "Shape", "Source", "Switch", "System",
    "Tpu", "Transceiver", "UnknownEntry", "cable", "cables", "cloud", "entries", "gpu", "ids", "model", "nearest", "nic", "search", "switch", "system", "tpu",
]  # fmt: skip


def gpu(id: str) -> Gpu:
    """One GPU model. Raises UnknownEntry."""
    return cast(Gpu, take("gpus", id))


def tpu(id: str) -> Tpu:
    """One TPU version. Raises UnknownEntry."""
    return cast(Tpu, take("tpus", id))


def system(id: str) -> System:
    """One server model or cloud machine type. Raises UnknownEntry."""
    return cast(System, take("systems", id))


def nic(id: str) -> Nic:
    """One adapter model. Raises UnknownEntry."""
    return cast(Nic, take("nics", id))


def switch(id: str) -> Switch:
    """One switch model. Raises UnknownEntry."""
    return cast(Switch, take("switches", id))


def cable(id: str) -> Cable:
    """One kind of cable. Raises UnknownEntry."""
    return cast(Cable, take("cables", id))


def cables(gbps: int) -> tuple[Cable, ...]:
    """The cables whose links run at this speed, in order of id; reads no other file. None where the catalog has none."""
    return tuple(cable(id) for id in ids("cables") if id.startswith(f"{gbps}g-"))


def model(id: str) -> Model:
    """One language model. Raises UnknownEntry."""
    return cast(Model, take("models", id))


def cloud(id: str) -> Cloud:
    """One cloud provider. Raises UnknownEntry."""
    return cast(Cloud, take("clouds", id))


def entries(kind: str) -> tuple[Entry, ...]:
    """Everything on one shelf in order of id; reads each file. Raises KeyError for a kind that is none of KINDS."""
    return tuple(take(kind, id) for id in ids(kind))


def search(text: str) -> tuple[Entry, ...]:
    """Entries of all kinds that every word of ``text`` is about, whatever the case: kind, id, name, vendor, cloud, GPU, what a port speaks."""
    words = text.lower().split()
    return tuple(entry for kind in KINDS for entry in entries(kind) if all(word in _about(entry) for word in words))


def _about(entry: Entry) -> str:
    """What a search looks into."""
    inside = [entry.kind, entry.id, entry.name, getattr(entry, "vendor", ""), getattr(entry, "gpu", None) or "", *getattr(entry, "technologies", ())]
    return " ".join(inside + [offered.provider for offered in [getattr(entry, "cloud", None)] if offered]).lower()


def nearest(text: str) -> tuple[str, ...]:
    """The ids of any kind that are spelt most like ``text``, best first."""
    known = dict.fromkeys(id for kind in KINDS for id in ids(kind))
    return near(text, known)[:3]
