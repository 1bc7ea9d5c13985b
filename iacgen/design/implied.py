"""What the blueprint leaves open and the design decides, in the words of the blueprint.

``iacgen resolve`` shows these values beside the written ones. Written into the blueprint, each of them changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from ..blueprint import Blueprint
from ..blueprint.sites import OnPremSite
from ..blueprint.storage import Lustre, lustre_name
from .model import Design

Path = tuple[str | int, ...]
Origin = Literal["default", "catalog"]


def implied(blueprint: Blueprint, design: Design) -> dict[Path, tuple[Any, Origin]]:
    """Path → value and where it comes from: a default of the language, or a fact of the catalog."""
    return dict(_implied(blueprint, design))


def _implied(blueprint: Blueprint, design: Design) -> Iterator[tuple[Path, tuple[Any, Origin]]]:
    for name, site in blueprint.sites.items():
        if isinstance(site, OnPremSite) and site.domain is None:
            yield ("sites", name, "domain"), (design.sites[name].domain, "default")
    for name, pool in blueprint.nodes.items():
        if pool.capacity is None and design.pools[name].system.cloud:
            yield ("nodes", name, "capacity"), ({"kind": "on-demand"}, "catalog")
        if pool.efa is None and design.pools[name].efa:
            yield ("nodes", name, "efa"), (design.pools[name].efa, "catalog")
    for name, fabric in blueprint.fabrics.items():
        built = design.fabrics[name]
        if fabric.subnet is None and built.subnet:
            yield ("fabrics", name, "subnet"), (str(built.subnet), "default")
        if fabric.qos is None and built.qos:
            keys = ("dscp", "priority", "cnp_dscp", "cnp_priority")
            yield ("fabrics", name, "qos"), ({key: getattr(built.qos, key) for key in keys}, "default")
    for name, store in blueprint.storage.items():
        built = design.storage[name]
        if isinstance(store, Lustre) and store.fsname is None:
            yield ("storage", name, "fsname"), (lustre_name(name, store), "default")
        if isinstance(store, Lustre) and store.clients is None and built.kind == "lustre":
            yield ("storage", name, "clients"), (list(built.clients), "catalog")  # the catalog says which pools have GPUs
    if blueprint.scheduler and blueprint.scheduler.partitions is None and design.scheduler:
        queues = {p.name: {"nodes": list(p.pools), "default": p.default, "max_time": p.max_time} for p in design.scheduler.partitions}
        yield ("scheduler", "partitions"), (queues, "default")
        for queue in design.scheduler.partitions:
            yield ("scheduler", "partitions", queue.name, "nodes"), (list(queue.pools), "catalog")  # the catalog says which pools have GPUs
    for name, job in blueprint.training.items():
        pool = blueprint.nodes[job.nodes]
        if job.count is None:
            yield ("training", name, "count"), (max(1, pool.free), "default")
        if job.zero is None and job.framework != "megatron":
            yield ("training", name, "zero"), (3, "default")
