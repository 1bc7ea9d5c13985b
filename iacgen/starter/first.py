"""What was asked for → the words of a first blueprint."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from .. import catalog, units
from ..render import render
from .choice import choice
from .job import month_gpus, suggested
from .layout import Layout, smallest
from .network import network

SITES = ("on-prem", "aws")
SMALL = 8  # nodes from which on a cluster gets storage, a second controller and login nodes of its own
BLOCK_FROM = 8  # cloud machines with GPUs that are rarely to be had on demand at once
EXAMPLE = "cr-0a1b2c3d4e5f67890"  # what the id of a reservation or of a block looks like
SPARES_FROM = 32  # nodes; about one failure in a week, arXiv:2410.21680
PER_SERVER = {"read": 20 * 10**9, "write": 10 * 10**9, "capacity": 500 * 10**12}  # a plain object storage server with NVMe
SAVE_S = 240  # seconds that a checkpoint may take the store
MBPS_PER_TIB = 250  # FSx for Lustre, the second of four throughputs


class Impossible(ValueError):
    """There is no such cluster; the message says why and what there is instead."""


@dataclass(frozen=True)
class Wish:
    """``site`` is one of SITES, ``fabric`` infiniband or roce; None of either: what the system suggests. ``capacity`` is the id of the
    capacity block or reservation that cloud machines are taken from. ``job`` is the model; None: the one that so many GPUs suggest."""

    system: str
    nodes: int
    site: str | None = None
    name: str | None = None
    fabric: str | None = None
    job: str | None = None
    capacity: str | None = None


def write(wish: Wish) -> str:
    """The text of a blueprint with comments. Raises Impossible."""
    system = _system(wish.system)
    model = _model(wish.job) if wish.job else suggested(system, wish.nodes)
    if model.positions == "alibi":
        raise Impossible(f"{model.name} knows places by ALiBi, which Megatron-LM does not compute; take --job with another model")
    site = "aws" if system.cloud else "on-prem"
    if wish.site not in (None, site):
        raise Impossible(f"{system.id} stands {'in AWS' if system.cloud else 'in a hall of your own'}: --site {site}")
    if not 1 <= wish.nodes <= 9999:
        raise Impossible("--nodes is from 1 to 9,999")
    if not system.cloud and wish.capacity:
        raise Impossible("machines of a hall are taken from no reservation; leave --capacity out")
    spares = 1 if wish.nodes >= SPARES_FROM else 0
    stored = bool(system.cloud) or wish.nodes >= SMALL
    layout = smallest(model, system, wish.nodes - spares, stored)
    if layout is None:
        raise Impossible(f"{model.name} does not fit {wish.nodes} x {system.name}; take more nodes, or --job with a smaller model")
    words: dict[str, Any] = {
        "name": wish.name or f"{system.id.partition('.')[0]}-{wish.nodes}",
        "system": system, "model": model, "nodes": wish.nodes, "spares": spares, "small": not stored, "suggested": wish.job is None, "gpus": wish.nodes * system.gpus, "month_gpus": month_gpus(model, catalog.gpu(system.gpu)), "layout": layout, "job_is_smaller": layout.nodes < wish.nodes - spares,
    }  # fmt: skip
    words |= _aws(wish, system, layout) if system.cloud else _on_prem(wish, system, layout, stored)
    return render(f"init/{site}.yaml.j2", **words)


def _system(id: str) -> catalog.System:
    known = [s.id for s in catalog.entries("systems") if isinstance(s, catalog.System) and s.gpu and catalog.gpu(s.gpu).vendor == "NVIDIA"]
    if id not in known:
        raise Impossible(f"no system with GPUs is called {id!r}; there are {', '.join(known)}")
    return catalog.system(id)


def _model(id: str) -> catalog.Model:
    if id not in catalog.ids("models"):
        raise Impossible(f"no model is called {id!r}; there are {', '.join(catalog.ids('models'))}")
    return catalog.model(id)


def blank(id: str) -> bool:
    """Whether an id says nothing: one digit over and over."""
    return len(set(id.removeprefix("cr-"))) == 1


MANAGED = 4 * 48  # hosts that SN2201 carry with SN2201 as spines: 48 ports a leaf, and 4 for leaves a spine


def _on_prem(wish: Wish, system: catalog.System, layout: Layout, stored: bool) -> dict[str, Any]:
    fabric = wish.fabric or ("roce" if system.generic else "infiniband")
    servers = 2 * max(math.ceil(wish.nodes / 64), math.ceil(layout.job.checkpoint_bytes / PER_SERVER["write"] / SAVE_S / 2))
    rates = {name: servers * rate for name, rate in PER_SERVER.items()}
    net = network(system, wish.nodes, fabric)
    if net is None:
        raise Impossible(f"{system.name} and no switch of the catalog speak {fabric} over a cable that fits both")
    store = choice(catalog.system("lustre-oss").nics["storage"], fabric)
    return {
        "fabric": fabric,
        "net": net,
        "storage_switch": store.switch.id if store else net.switch,
        "managed": ", ".join(["gpu", *(["oss", "mds"] if stored else []), "ctl", *(["login"] if stored else []), *(["ufm"] if net.ufm and stored else [])]),
        "room": net.room,
        "consoles": wish.nodes > SMALL,
        "many": max(wish.nodes, net.room) + servers + 10 > MANAGED,
        "many_consoles": max(wish.nodes, net.room) + servers + 10 > MANAGED // 2,  # the switches have as many again, at most
        "rack": units.write(max(42_000, math.ceil((system.power_kw or 0) * max(2, system.nvlink_domain_servers)) * 1000), "watts"),
        "cooling": "direct-liquid" if system.cooling == "hybrid" else "rear-door",
        "heat": units.write(math.ceil(wish.nodes * (system.power_kw or 0) * 1.3 / 10) * 10_000, "watts"),
        "servers": servers,
        "capacity": units.write(rates["capacity"], "bytes"),
        "read": units.write(rates["read"], "bytes_per_s"),
        "write": units.write(rates["write"], "bytes_per_s"),
        "target": _target(layout, rates["write"]) if stored else None,
    }


def _aws(wish: Wish, system: catalog.System, layout: Layout) -> dict[str, Any]:
    if wish.fabric:
        raise Impossible("in AWS the fabric is EFA; leave --fabric out")
    if wish.nodes >= BLOCK_FROM and not wish.capacity:
        raise Impossible(f"{wish.nodes} x {system.id} are rarely to be had on demand: give the id of your capacity block or reservation, --capacity {EXAMPLE}")
    if wish.capacity and (not re.fullmatch("cr-[0-9a-f]{17}", wish.capacity) or blank(wish.capacity)):
        raise Impossible(f"--capacity takes the id of a capacity block or reservation, such as {EXAMPLE}")
    rules = catalog.cloud("aws").fsx_lustre
    step = rules.capacity_step_gib
    tib = layout.job.checkpoint_bytes / SAVE_S / (MBPS_PER_TIB * 10**6)
    gib = step * max(2, math.ceil(wish.nodes / 4), math.ceil(tib * 1024 / step))
    most = catalog.cloud("aws").capacity_block.most_machines
    return {
        "region": "us-east-2",
        "zone": "us-east-2a",
        "capacity_kind": None if wish.capacity is None else "capacity-block" if wish.nodes <= most else "capacity-reservation",
        "capacity_id": wish.capacity,
        "example": EXAMPLE,
        "controllers": 1 if wish.nodes < SMALL * 4 else 2,
        "logins": 0 if wish.nodes < SMALL else 2,
        "capacity": f"{gib}GiB",
        "throughput": MBPS_PER_TIB,
        "target": _target(layout, gib / 1024 * MBPS_PER_TIB * 10**6),
    }


def _target(layout: Layout, write: float) -> str:
    """Time for a checkpoint: a quarter more than the store needs, in tens of seconds, a minute at least."""
    return units.write(max(60.0, math.ceil(1.25 * layout.job.checkpoint_bytes / write / 10) * 10.0), "seconds")
