"""What a value of NCCL does to the hosts and the fabric of this cluster; nothing where it fits them.

Sources: NCCL user guide 2.30, environment variables; NVIDIA/nccl issues 1933 and 2193; src/mnnvl.cc and src/init.cc of NCCL 2.30.7; for
PXN "Doubling all2all Performance with NVIDIA Collective Communication Library 2.12", NVIDIA technical blog.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..design.fabric.model import Fabric
from ..design.fabric.sound import parts, rails_apart
from ..design.model import Pool
from .subject import Subject

_RDMA = ("infiniband", "roce", "efa")
_LEAST_BUFFER = 4 << 20  # bytes, NCCL's default


@dataclass(frozen=True)
class _Place:
    """A pool of GPU hosts and the compute fabric that it is on, if any."""

    pool: Pool
    fabric: Fabric | None

    @property
    def rdma(self) -> bool:
        return self.fabric is not None and self.fabric.technology in _RDMA

    @property
    def adapters(self) -> int:
        """Compute ports of a host."""
        return self.fabric.nics[self.pool.name].count if self.fabric else 0

    @property
    def several(self) -> bool:
        """Whether a host has GPUs that could talk to each other."""
        return self.pool.system.gpus > 1

    @property
    def nvlink(self) -> bool:
        """Whether NVLink joins GPUs of a host."""
        return self.pool.system.nvlink_domain_gpus > 1

    @property
    def joined(self) -> bool:
        """Whether NVLink joins several of these hosts."""
        return self.pool.system.nvlink_domain_servers > 1 and self.pool.count > 1

    @property
    def apart(self) -> bool:
        """Whether an adapter reaches those of its own rail or plane alone."""
        return self.fabric is not None and (rails_apart(self.fabric) or (self.fabric.technology == "infiniband" and parts(self.fabric) > 1))


def harm(subject: Subject, name: str, value: str) -> str | None:
    """What a value does on the first pool that it harms, to follow "with <name> <value>"; None where it harms none."""
    design = subject.design
    places = [_Place(pool, design.fabric_of(pool.name, "compute")) for pool in design.pools.values() if pool.gpu]
    judge = _BY_NAME.get(name)
    return next((told for place in places if (told := judge(place, value))), None) if judge else None


def _number(value: str) -> int | None:
    return int(value, 0) if re.fullmatch(r"-?(0|[1-9][0-9]*|0x[0-9a-fA-F]+)", value) else None


def _on(value: str) -> bool:
    return (_number(value) or 0) > 0


def _p2p(place: _Place) -> str | None:
    if not place.several:
        return None
    return "GPUs of a node no longer use NVLink" if place.nvlink else "GPUs of a node no longer reach each other's memory over PCIe"


def _pxn(place: _Place) -> str | None:
    if not place.nvlink or place.adapters < 2:
        return None
    if place.fabric and place.fabric.by_rail:
        return "traffic between rails crosses the spines in place of NVLink"
    return "what the GPUs of a node send to one other GPU is no longer joined to large messages"


def _cross_nic(place: _Place, value: str) -> str | None:
    """0 is right where rails do not reach each other, and a choice where they do so slowly."""
    number = _number(value)
    if not place.fabric or place.adapters < 2 or number is None:
        return None
    if place.apart:
        return f"NCCL may join adapters of different rails or planes, and nothing joins those of the network {place.fabric.name}" if number else None
    if number == 0 and place.rdma and not (place.fabric.by_rail and place.fabric.oversubscription > 1):
        return f"rings keep to one adapter all the way, while the network {place.fabric.name} joins them all at full rate"
    return None


def _mnnvl(place: _Place, value: str) -> str | None:
    number = _number(value)
    if number == 0 and place.joined:
        return f"the {place.pool.system.nvlink_domain_servers} hosts of an NVLink domain talk over the network in place of NVLink"
    if number == 1 and not place.joined:
        return "NCCL ends at its start: 1 asks for NVLink between hosts, which these do not have"
    return None


def _cumem(place: _Place, value: str) -> str | None:
    if _number(value) != 0:
        return None
    if place.joined:
        return "NVLink between hosts (MNNVL) is off: they talk over the network"
    return "registered buffers and NVLink SHARP with them are off" if place.several else None


def _pinned(what: str) -> Callable[[_Place, str], str | None]:
    def judge(_: _Place, value: str) -> str | None:
        """A list after ^ takes away and leaves the choice; so does one of several."""
        chosen = re.sub(r"^[a-z]+:", "", value.lower())
        return f"one {what} serves messages of every size" if not chosen.startswith("^") and "," not in chosen else None

    return judge


def _buffer(_: _Place, value: str) -> str | None:
    number = _number(value)
    return "pipelines between GPUs run dry: the default is 4 MiB" if number is not None and number < _LEAST_BUFFER else None


def _transport(place: _Place, value: str) -> str | None:
    return "messages between nodes go over TCP" if place.rdma and value.lower() == "socket" else None


def _plugin(place: _Place, value: str) -> str | None:
    efa = place.fabric is not None and place.fabric.technology == "efa"
    return "the EFA plug-in is not loaded, and messages between nodes go over TCP" if efa and value.lower() == "none" else None


_BY_NAME: Mapping[str, Callable[[_Place, str], str | None]] = {
    "NCCL_ALGO": _pinned("algorithm"),
    "NCCL_BUFFSIZE": _buffer,
    "NCCL_CROSS_NIC": _cross_nic,
    "NCCL_CUMEM_ENABLE": _cumem,
    "NCCL_DEBUG": lambda _, value: "every call of every rank is written to the log" if value.upper() == "TRACE" else None,
    "NCCL_IB_DISABLE": lambda place, value: "messages between nodes go over TCP" if _on(value) and place.rdma else None,
    "NCCL_MNNVL_ENABLE": _mnnvl,
    "NCCL_NET": _transport,
    "NCCL_NET_GDR_LEVEL": lambda place, value: "messages go through the memory of the host" if value == "LOC" and place.rdma else None,
    "NCCL_NET_PLUGIN": _plugin,
    "NCCL_NVB_DISABLE": lambda place, value: "GPUs no longer pass messages on over NVLink" if _on(value) and place.nvlink else None,
    "NCCL_P2P_DISABLE": lambda place, value: _p2p(place) if _on(value) else None,
    "NCCL_P2P_LEVEL": lambda place, value: _p2p(place) if value == "LOC" else None,
    "NCCL_PROTO": _pinned("protocol"),
    "NCCL_PXN_DISABLE": lambda place, value: _pxn(place) if _on(value) else None,
    "NCCL_SHM_DISABLE": lambda place, value: "processes of a node talk over the network" if _on(value) and place.several else None,
}
