"""Tables of what stands in the halls and zones: nodes, fabrics, racks and power, storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from iacgen import units
from iacgen.design.fabric.model import Fabric
from iacgen.design.fabric.room import ready
from iacgen.design.facility import Facility
from iacgen.design.model import Design, Pool, Storage
from iacgen.placement.project import Project

Row = tuple[str | int, ...]
Fact = tuple[str, str]


@dataclass(frozen=True)
class Table:
    """Column heads and rows of one Markdown table; ``right`` columns from the right are numbers."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]
    right: int = 0

    @property
    def rule(self) -> str:
        """The line below the heads."""
        left = len(self.head) - self.right
        return "|" + " --- |" * left + " ---: |" * self.right


def glance(project: Project) -> tuple[Fact, ...]:
    """The figures that one asks for first."""
    design = project.design
    with_gpus = [p for p in design.pools.values() if p.gpu]
    models = ", ".join(sorted({p.gpu.name for p in with_gpus if p.gpu}))
    facts = [
        ("Nodes", f"{sum(p.count for p in with_gpus):,} with GPUs, {sum(p.count for p in design.pools.values() if not p.gpu):,} without"),
        ("GPUs", f"{design.gpus:,} ({models})" if with_gpus else "none"),
    ]
    if torus := [p for p in design.pools.values() if p.system.tpu]:
        facts.append(("TPUs", f"{sum(p.count * p.system.tpus for p in torus):,} on {sum(p.count for p in torus):,} of these hosts, as the jobs below say"))
    if foreign := sorted(p.name for p in design.pools.values() if p.only_planned):
        facts.append(("Plan only", f"no files are written for hosts, Slurm and launches: those of {', '.join(foreign)} have no accelerators of NVIDIA (iacgen explain IAC273)"))
    wired = [f for f in design.fabrics.values() if f.switch]
    if wired:
        facts.append(("Switches and cables", f"{sum(f.switches for f in wired):,} and {sum(f.cables.total for f in wired):,}"))
    for facility in design.facilities.values():
        facts.append((f"Power of {facility.site}", f"{units.kilowatts(facility.power_w)} at most" + _unknown(facility)))
    return tuple(facts)


def _unknown(facility: Facility) -> str:
    return f"; not published and not counted: {', '.join(facility.unknown)}" if facility.unknown else ""


def purposes(design: Design) -> tuple[Fact, ...]:
    """What the pools are for, where the blueprint says so."""
    return tuple((p.name, text) for p in design.pools.values() if (text := design.descriptions.get(p.origin)))


def nodes(design: Design) -> Table:
    """One row a pool."""
    rows = tuple(
        (p.name, p.system.name, p.site, _range(p), f"{p.count:,}", f"{p.count * p.system.gpus:,}", p.spares, len(p.down)) for p in design.pools.values()
    )
    return Table(("Pool", "System", "Site", "Hosts", "Count", "GPUs", "Of them spare", "Down"), rows, right=4)


def _range(pool: Pool) -> str:
    return pool.host(0) if pool.count == 1 else f"{pool.host(0)} to {pool.host(pool.count - 1)}"


def fabrics(design: Design) -> Table:
    """One row a fabric; a cloud shows no switches."""
    head = ("Fabric", "Kind", "Ports of a host", "Switch", "Leaf", "Spine", "Core", "Host cables", "Manager cables", "Between switches", "Oversubscription")
    return Table(head, tuple(_fabric(f) for f in design.fabrics.values()), right=7)


def _fabric(fabric: Fabric) -> Row:
    ports = ", ".join(sorted({f"{fabric.nics[p].count} x {fabric.link_gbps[p]}G" for p in fabric.pools}))
    if fabric.switch is None:
        return (fabric.name, fabric.technology, ports, "not shown by the cloud", "", "", "", "", "", "", "")
    cables = fabric.cables
    counts = (len(fabric.leaves), len(fabric.spines), len(fabric.cores), cables.host, cables.manager, cables.between_switches)
    over = fabric.oversubscription
    return (fabric.name, f"{fabric.technology}, {fabric.topology}", ports, " and ".join(dict.fromkeys(tier.switch.name for tier in fabric.tiers)), *(f"{n:,}" for n in counts), f"{over:.2f}" if over > 1 else "none")


def growth(design: Design) -> tuple[Fact, ...]:
    """What each fabric was sized for, and up to how many hosts of each pool no laid cable moves."""
    return tuple((f"Growth of {name}", f"{ready(design.fabrics[name])}; {_room(design, most)}") for name, most in design.room.items())


def _room(design: Design, most: Mapping[str, int]) -> str:
    more = [f"{count - design.pools[pool].count:,} more of {pool} ({count:,})" for pool, count in most.items() if count > design.pools[pool].count]
    if not more:
        return "no node more fits before a cable moves"
    return f"{' or '.join(more)} before a cable moves" + (", none of the others" if len(more) < len(most) else "")


def sites(design: Design) -> Table | None:
    """Racks, power and cooling of each hall; None where all is in a cloud."""
    if not design.facilities:
        return None
    rows = tuple(_site(f) for f in design.facilities.values())
    return Table(("Site", "Racks", "Power at most", "Fullest rack", "Cooling", "Cooling left"), rows)


def _site(facility: Facility) -> Row:
    fullest = max((rack.power_w for rack in facility.racks), default=0)
    cooling, left = "not stated", "unknown"
    if plant := facility.plant:
        spare = plant.capacity_w - facility.power_w
        cooling = f"{plant.kind}, {plant.redundancy}, supply at {plant.supply_c} °C: {units.kilowatts(plant.capacity_w)}"
        left = f"{units.kilowatts(spare)} ({spare / plant.capacity_w:.0%})"
    rack = f"{units.kilowatts(fullest)} of {units.kilowatts(facility.rack_power_w)}"
    return (facility.site, f"{len(facility.racks):,}", units.kilowatts(facility.power_w), rack, cooling, left)


def counted(design: Design) -> tuple[str, ...]:
    """What the table of sites counts as nothing, and what its cooling is."""
    out = [f"{f.site} counts 0 W for {', '.join(f.unknown)}, whose draw is not published: add theirs before you trust what is left." for f in design.facilities.values() if f.unknown]
    if any(f.plant for f in design.facilities.values()):
        out.append("Cooling is the capacity that the blueprint states: what remains with the redundant units at rest.")
    return tuple(out)


def storage(design: Design) -> Table | None:
    """One row a store; None when there is none."""
    if not design.storage:
        return None
    rows = tuple(_store(s, design) for s in design.storage.values())
    return Table(("Store", "Kind", "Where", "Capacity", "Read", "Write"), rows)


def _store(store: Storage, design: Design) -> Row:
    if store.kind == "lustre":
        kind = f"Lustre {design.software.lustre}, {len(store.servers)} object and {len(store.metadata)} metadata servers, mounted by {', '.join(store.clients) or 'nobody'}"
        return (store.name, kind, store.mount, units.bytes_si(store.capacity_bytes), units.gb_per_s(store.read_bytes_per_s), units.gb_per_s(store.write_bytes_per_s))
    if store.kind == "fsx-lustre":
        rate = units.gb_per_s(store.write_bytes_per_s)
        exports = f", exports to {store.exports_to}" if store.exports_to else ""
        return (store.name, f"FSx for Lustre{exports}", store.mount, f"{store.capacity_gib:,} GiB", rate, rate)
    return (store.name, "S3 bucket", "a bucket", "as used", "not stated", "not stated")
