"""What the values must be on this fabric and in every dialect, worked out from the design and not from the target.

A variable is right when the blueprint sets it, or the fabric asks for it, and its value is theirs. Every other one is a finding: NCCL
chooses well by itself, and what it is told it believes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from .dialects import Values
from .lint import harm

Rule = Callable[[str | None], str]
"""The value of one variable, None where it is missing → what is wrong with it; empty when all is well."""

_MANY_RANKS = 1000  # from where NCCL_DEBUG=INFO floods the logs
_RAILS_SINCE = (2, 30)
_QUEUE_PAIRS = range(2, 5)  # that help against equal-cost paths; more were measured to give nothing
_NEVER = {"lo", "docker"}  # interfaces that reach no other host


def of_design(design: Any, pool: str, name: str, values: Values, unread: Collection[str] = ()) -> Iterator[Diagnostic]:
    """The values of a pool's hosts are those that its fabric needs, and no others; ``unread`` names have their finding already."""
    rules = explained(design, pool)
    origin = _origin(design, pool)
    for key, rule in rules.items():
        if why := rule(values.get(key)):
            yield finding("nccl-not-of-fabric", f"{name}: {key} is {values.get(key, 'missing')}: {why}", origin)
    for key in sorted(values.keys() - rules.keys() - set(unread)):
        yield _unplanned(name, key, values[key], _technology(design, pool), origin)


def of_dialect(design: Any, pool: str, name: str, values: Values, expected: Values) -> Iterator[Diagnostic]:
    """A dialect says what nccl.conf says, and beside that what PyTorch needs."""
    interfaces, origin = _interfaces(design, pool), _origin(design, pool)
    gloo = {"GLOO_SOCKET_IFNAME": ",".join(interfaces)} if interfaces else {}
    for key, value in expected.items():
        if values.get(key) != value:
            yield finding("dialects-disagree", f"{name}: {key} is {values.get(key, 'missing')}, in nccl.conf {value}")
    for key, value in gloo.items():
        if values.get(key) != value:
            yield finding("nccl-not-of-fabric", f"{name}: {key} is {values.get(key, 'missing')}: the interface of PyTorch's CPU collectives is {value}", origin)
    for key in sorted(values.keys() - expected.keys() - gloo.keys()):
        if harm(key):
            yield _unplanned(name, key, values[key], _technology(design, pool), origin)
        else:
            yield finding("dialects-disagree", f"{name}: {key} is not in nccl.conf and no known reader's")


def explained(design: Any, pool: str) -> dict[str, Rule]:
    """The variables that the design asks for on the hosts of a pool; what the blueprint sets by hand takes the place of what follows."""
    fabric, technology = design.fabric_of(pool, "compute"), _technology(design, pool)
    rules: dict[str, Rule] = {
        "NCCL_DEBUG": lambda value: _debug(value, design.pools[pool]),
        "NCCL_SOCKET_IFNAME": lambda value: _bootstrap(value, _interfaces(design, pool)),
    }
    if technology in ("infiniband", "roce") and fabric.nics[pool].rdma_names:
        rules["NCCL_IB_HCA"] = lambda value: _adapters(value, fabric.nics[pool].rdma_names, design.software.nccl)
        if technology == "infiniband" and fabric.planes > 1:
            rules["NCCL_IB_HCA"] = lambda value: _ports(value, fabric.nics[pool].rdma_names, fabric.planes)
    if technology in ("infiniband", "roce") and _meets_itself_alone(fabric, technology, pool):
        rules["NCCL_CROSS_NIC"] = lambda value: "" if value == "0" else "an adapter reaches those of its own rail or plane alone"
    if technology == "roce" and fabric.qos:
        rules["NCCL_IB_TC"] = lambda value: _traffic_class(value, fabric.qos.dscp)
        if fabric.multipath:
            rules["NCCL_IB_QPS_PER_CONNECTION"] = _queue_pairs
    return rules | {variable.name: _by_hand(variable.value) for variable in design.nccl}


def _unplanned(name: str, key: str, value: str, technology: str | None, origin: Any) -> Diagnostic:
    if key == "NCCL_IB_GID_INDEX" and technology == "infiniband":
        return finding("nccl-not-of-fabric", f"{name}: {key} is not read on InfiniBand", origin)
    if key.startswith("NCCL_IB_") and not harm(key) and technology not in ("infiniband", "roce"):
        return finding("nccl-not-of-fabric", f"{name}: {key} without InfiniBand or RoCE", origin)
    return finding("unplanned-nccl-variable", f"{name}: {key}={value}: {harm(key) or 'nothing in the blueprint asks for it'}", origin)


def _technology(design: Any, pool: str) -> str | None:
    fabric = design.fabric_of(pool, "compute")
    return fabric.technology if fabric else None


def _origin(design: Any, pool: str) -> Any:
    fabric = design.fabric_of(pool, "compute")
    return fabric.origin if fabric else ("nodes", pool)


def _interfaces(design: Any, pool: str) -> tuple[str, ...]:
    """Those that carry plain TCP: of the compute network where that is Ethernet, else of the management network; none where nobody knows."""
    compute, management = design.fabric_of(pool, "compute"), design.management_of(pool)
    carrier = compute if _technology(design, pool) == "ethernet" else None if _technology(design, pool) == "efa" else management or compute
    if carrier and carrier.interface:
        return (carrier.interface,)
    names = tuple(carrier.nics[pool].interfaces) if carrier else ()
    return () if carrier and carrier.bonded and len(names) > 1 else names  # a bond has a name of the site's


def _by_hand(planned: str) -> Rule:
    return lambda value: "" if value == planned else f"the blueprint sets {planned}"


def _debug(value: str | None, pool: Any) -> str:
    ranks = pool.count * pool.system.gpus
    if value in (None, "VERSION", "WARN") or (value == "INFO" and ranks <= _MANY_RANKS):
        return ""
    return f"{ranks} ranks would flood the log; WARN says why a job failed"


def _bootstrap(value: str | None, interfaces: tuple[str, ...]) -> str:
    if interfaces:
        return "" if value == "=" + ",".join(interfaces) else f"ranks find each other over {', '.join(interfaces)}, by exact name"
    if value and value.startswith("^") and set(value[1:].split(",")) >= _NEVER:
        return ""
    return f"nobody knows how the images call their interface: all but {', '.join(sorted(_NEVER))}, as in ^docker,lo"


def _adapters(value: str | None, names: tuple[str, ...], version: str) -> str:
    """``=name[:port[:rail]],...``: the compute adapters in the order of the rails."""
    fields = [token.split(":") for token in value.removeprefix("=").split(",")] if value else []
    if not value or not value.startswith("=") or tuple(parts[0] for parts in fields) != names:
        return f"the compute adapters are {', '.join(names)}, by exact name"
    if any(len(parts) > 2 for parts in fields) and tuple(map(int, version.split(".")[:2])) < _RAILS_SINCE:
        return f"NCCL {version} reads no rails"
    if any(len(parts) > 2 and parts[2] != str(rail) for rail, parts in enumerate(fields)):
        return "other rails than the order of the adapters"
    return ""


def _ports(value: str | None, names: tuple[str, ...], planes: int) -> str:
    """``=name:port,...``: of each compute adapter a port in each plane, which are subnets of their own."""
    fields = value[1:].split(",") if value and value.startswith("=") else []
    return "" if fields == [f"{name}:{port}" for name in names for port in range(1, planes + 1)] else f"the compute adapters are {', '.join(names)}, each with {planes} ports, one a plane"


def _meets_itself_alone(fabric: Any, technology: str, pool: str) -> bool:
    """Whether no switch is on the way from some port of a host to some other: told by the cables of its leaves, not by the design's own words."""
    if technology == "infiniband" and fabric.planes > 1:
        return True
    if fabric.nics[pool].count < 2 or not fabric.by_rail:
        return False
    return not fabric.spines or (not fabric.cores and len({cable.b for cable in fabric.wiring() if cable.a == fabric.leaves[0]}) < len(fabric.spines))


def _traffic_class(value: str | None, dscp: int) -> str:
    # The upper six bits of the byte; the lower two are congestion marks and may differ.
    return "" if value and value.isdecimal() and int(value) >> 2 == dscp else f"not in the lossless class, DSCP {dscp}"


def _queue_pairs(value: str | None) -> str:
    return "" if value is None or (value.isdecimal() and int(value) in _QUEUE_PAIRS) else "2 to 4 spread a connection over the paths to the spines"
