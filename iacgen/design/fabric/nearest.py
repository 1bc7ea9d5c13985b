"""Requests near an impossible one that can be met: each is a change of the blueprint, and each has been designed before it is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ... import catalog
from ...blueprint.fabrics import Fabric as Wanted
from ...blueprint.fabrics import FabricManager
from .choose import speakers
from .model import Fabric
from .quoted import differences
from .shape import FabricError
from .sound import sound

Pools = Mapping[str, Any]
Attempt = Callable[[Wanted, Pools], Fabric]
Changes = Mapping[str, Any]

UFM_PLACES = 4  # leaf ports of a fabric manager, which can take so many places of nodes
MOST_HOSTS = 1_000_000  # looked at for all hints of one fabric: of a huge one some are never tried
ANY_SWITCH = 4  # designs that one of a plain tree comes to where every switch is tried
MOST = 8  # proposals for one fabric
MODELS = 2  # of them, switches of one technology
OVERSUBSCRIPTIONS = (1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
SHAPE = ("unit", "units", "spine", "spines", "pod", "split", "group", "rail_groups", "tiers")  # keys that fix what would follow by itself
OF_TREES = ("tiers", "spines", "pod", "split", "cores", "oversubscription", "spine_oversubscription")


@dataclass(frozen=True)
class Near:
    """``changes``: keys of the fabric and dotted paths of the blueprint, with their new values; None leaves the key out."""

    changes: Changes
    note: str = ""

    def __str__(self) -> str:
        words = (f"without {key}" if value is None else f"{key} {_word(value)}" for key, value in self.changes.items())
        return ", ".join(words) + (f" ({self.note})" if self.note else "")


def _word(value: Any) -> str:
    if isinstance(value, FabricManager):
        return f"{{kind: {value.kind}, pool: {value.pool}}}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def nearest(error: FabricError, wanted: Wanted, pools: Pools, attempt: Attempt) -> FabricError:
    """The error, with what would do."""
    search = Search(wanted, pools, _within(MOST_HOSTS, attempt))
    near: list[Near] = []
    for found in search.proposals(error.field):
        if found.changes not in [other.changes for other in near]:
            near.append(found)
        if len(near) == MOST:
            break
    return FabricError(error.field, str(error), error.limit, [str(found) for found in near])


def _within(budget: int, attempt: Attempt) -> Attempt:
    """The attempt, which refuses once so many hosts have been dealt with. By rails only those that stand are."""
    spent = 0

    def bounded(wanted: Wanted, pools: Pools) -> Fabric:
        nonlocal spent
        rails = wanted.topology.startswith("rail") and wanted.split == "equal"
        hosts = sum(pools[p].count if rails else pools[p].planned for p in wanted.connects)
        spent += hosts if rails or wanted.switch else ANY_SWITCH * hosts
        if spent > budget:
            raise FabricError(None, "not tried")
        return attempt(wanted, pools)

    return bounded


@dataclass(frozen=True)
class Search:
    """What is asked for, and how to find out whether something else would do."""

    wanted: Wanted
    pools: Pools
    attempt: Attempt

    def proposals(self, blamed: str | None) -> Iterator[Near]:
        """One change at a time, the least one first; ``blamed`` is the key that the refusal names."""
        yield from self.smaller()
        yield from self._first(*self._mends(blamed))
        yield from self._switches(self.wanted.technology)
        other = {"infiniband": "roce", "roce": "infiniband"}.get(self.wanted.technology)
        if other:
            yield from self._switches(other)
        if self.wanted.tiers == 2:
            yield from self._first(*self._loosened({"tiers": 3}))
        more = (self._loosened({"oversubscription": o}) for o in OVERSUBSCRIPTIONS if o > self.wanted.oversubscription)
        yield from self._first(*(changes for each in more for changes in each))
        for topology in ("rail-fat-tree", "fat-tree", "dragonfly-plus"):
            yield from self._first(self._topology(topology))
        yield from self._spines()
        for planes in (1, 2, 4):
            yield from self._first({"planes": planes})

    def works(self, changes: Changes) -> tuple[Changes, Fabric] | None:
        """The fabric with these changes, and with those that it then needs besides; None where it cannot be or means nothing."""
        changes = {key: value for key, value in changes.items() if "." in key or value != self._now(key)}
        if not changes:
            return None
        wanted = self.wanted.model_copy(update={key: _default(key) if value is None else value for key, value in changes.items() if "." not in key})
        pools = self._pools(changes)
        try:
            fabric = self.attempt(wanted, pools)
        except FabricError:
            return None
        if not sound(fabric, pools):
            if wanted.os is None:
                return None
            return self.works({**changes, "os": None})
        gpus = sum(pools[p].count * pools[p].system.gpus for p in fabric.pools)
        if wanted.quoted and differences(fabric, gpus, wanted.quoted.model_dump(exclude_none=True)):
            changes = {**changes, "quoted": None}
        return changes, fabric

    def smaller(self) -> Iterator[Near]:
        """The most hosts of the largest pool that the switches carry, where all that are asked for are too many."""
        on = [self.pools[p] for p in self.wanted.connects]
        pool = max(on, key=lambda p: p.planned * getattr(p.system.nics.get(self.wanted.purpose), "count", 0))
        most = self._most(pool)
        for count in range(most, max(0, most - 2 * UFM_PLACES), -1):
            if count <= pool.spares or any(pool.index(host) >= count for host in pool.down):
                return
            key = f"nodes.{pool.name}"
            grown: Changes = {f"{key}.grow_to": count} if pool.count <= count and pool.grow_to else {f"{key}.count": count}
            if pool.grow_to and pool.count > count:
                grown = {**grown, f"{key}.grow_to": None}
            if found := self.works(grown):
                changes, fabric = found
                yield Near(changes, f"{self._ports(fabric, grown):,} host ports")
                return

    def _most(self, pool: Any) -> int:
        """By halves, and laid out for growth from one host, so that only what stands above it is counted."""
        rotating = self.wanted.split == "rotating"

        def carried(count: int) -> bool:
            one = replace(pool, count=count if rotating else 1, grow_to=count)
            try:
                self.attempt(self.wanted, {**self.pools, pool.name: one})
            except FabricError:
                return False
            return True

        low, high = 0, pool.planned + 1
        if carried(pool.planned):
            return int(pool.planned)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if carried(middle) else (low, middle)
        return low

    def _ports(self, fabric: Fabric, changes: Changes) -> int:
        planned = self._pools(changes)
        return sum(planned[p].planned * fabric.nics[p].count for p in fabric.pools)

    def _mends(self, blamed: str | None) -> Iterator[Changes]:
        """What the key to blame could say instead."""
        if blamed == "planes":
            yield {"planes": 1}
        elif blamed in SHAPE:
            yield {blamed: None}
        if blamed == "manager" and self.wanted.technology != "infiniband":
            yield {"manager": None}
        if blamed in ("manager", "unit"):
            unit = self.wanted.unit or 1
            yield from ({"unit": less} for less in range(unit - 1, max(0, unit - 1 - UFM_PLACES), -1))
        if blamed == "subnet":
            yield {"subnet": None}
            yield {f"nodes.{p}.width": len(str(self.pools[p].planned)) for p in self.wanted.connects if self.pools[p].width > len(str(self.pools[p].planned))}
        if blamed == "manager":
            yield {"manager": FabricManager(kind="opensm", pool=self.wanted.connects[0])}

    def _loosened(self, changes: Changes) -> Iterator[Changes]:
        """The changes alone, then without a unit or with one that leaves a place for a manager, then without anything that fixes the
        shape."""
        yield changes
        yield {**changes, **self._set("unit", besides=changes)}
        if self.wanted.manager and self.wanted.topology.startswith("rail") and (id := changes.get("switch", self.wanted.switch)):
            yield from ({**changes, "unit": ports // 2 - 1} for _, ports in sorted(catalog.switch(id).ports_by_gbps.items(), reverse=True) if ports > 2)
        yield {**changes, **self._set(*SHAPE, besides=changes)}

    def _set(self, *keys: str, besides: Changes) -> Changes:
        return {key: None for key in keys if self._now(key) != _default(key) and key not in besides}

    def _switches(self, technology: str) -> Iterator[Near]:
        """Other models of this technology, those with the fastest links and then the fewest switches first."""
        same = technology == self.wanted.technology
        if same and self.wanted.switch is None:
            return
        other: Changes = {} if same else {"technology": technology}
        besides: Changes = {} if same else {**self._set("os", "qos", "spine", besides={}), **self._manager(technology)}
        found = []
        for switch in speakers(technology):
            if works := self._works_first(self._loosened({**other, "switch": switch.id, **besides})):
                found.append((-_gbps(works[1]), works[1].switches, switch.vendor not in self._vendors(), switch.id, works[0]))
        for slower, *_, changes in sorted(found, key=lambda one: one[:4])[:MODELS]:
            yield Near(changes, "" if -slower >= self._gbps() else f"at {-slower} Gb/s a port")

    def _manager(self, technology: str) -> Changes:
        if technology != "infiniband":
            return self._set("manager", besides={})
        return {} if self.wanted.manager else {"manager": FabricManager(kind="opensm", pool=self.wanted.connects[0])}

    def _gbps(self) -> int:
        nics = (self.pools[p].system.nics.get(self.wanted.purpose) for p in self.wanted.connects)
        return min((nic.gbps for nic in nics if nic), default=0)

    def _vendors(self) -> set[str]:
        nics = (self.pools[p].system.nics.get(self.wanted.purpose) for p in self.wanted.connects)
        return {catalog.nic(nic.nic).vendor for nic in nics if nic}

    def _topology(self, topology: str) -> Changes:
        """With what a topology does not have left out."""
        if topology == self.wanted.topology:
            return {}
        gone = ["group"] if topology != "dragonfly-plus" else [*OF_TREES, "group"]
        gone += [] if topology == "rail-fat-tree" else ["unit", "units", "rail_groups"]
        return {"topology": topology, **self._set(*gone, besides={})}

    def _spines(self) -> Iterator[Near]:
        """Spines of another model, where the leaves have ports of their own for uplinks."""
        named = self.wanted.switch and catalog.switch(self.wanted.switch)
        if (named and named.uplink_gbps is None) or (not named and self.wanted.technology != "ethernet"):
            return
        found = [works for s in speakers(self.wanted.technology) if (works := self.works({"spine": s.id})) and works[1].spines]
        for changes, _ in sorted(found, key=lambda works: (works[1].switches, str(works[0])))[:MODELS]:
            yield Near(changes)

    def _first(self, *each: Changes) -> Iterator[Near]:
        if found := self._works_first(each):
            yield Near(found[0])

    def _works_first(self, each: Iterable[Changes]) -> tuple[Changes, Fabric] | None:
        tried: list[Changes] = []
        for changes in each:
            if changes not in tried and (works := self.works(changes)):
                return works
            tried.append(changes)
        return None

    def _now(self, key: str) -> Any:
        return getattr(self.wanted, key)

    def _pools(self, changes: Changes) -> Pools:
        pools = dict(self.pools)
        for path, value in changes.items():
            if "." in path:
                _, name, key = path.split(".")
                pools[name] = replace(pools[name], **{key: value or 0})
        return pools


def _gbps(fabric: Fabric) -> int:
    """Speed of a host's port, over all planes."""
    return max(fabric.link_gbps.values()) * fabric.planes


def _default(key: str) -> Any:
    return Wanted.model_fields[key].default
