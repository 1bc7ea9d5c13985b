"""Orders against a second count that goes link by link: names in dicts for numbers in arrays, every part tried for numpy's bincounts."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.blueprint import parse
from iacgen.design import design
from iacgen.design.fabric.model import Fabric, pool_of
from iacgen.design.fabric.wiring import port_names
from iacgen.design.facility import Facility, Rack, Standing
from iacgen.design.facility.cages import cages
from iacgen.design.facility.cables import NO_CABLE, crowded, parts, runs, unfit
from iacgen.design.facility.lengths import lengths, places
from iacgen.pipeline import run

CASES = Path(__file__).parents[2] / "cases/fabric"
ORDER = ("twisted-pair", "dac", "acc", "aoc", "multimode", "single-mode")
NEWER = {"qsfp28": {"qsfp28", "qsfp56", "qsfp112"}, "qsfp56": {"qsfp56", "qsfp112"}}  # plug → cages that it goes into


def built(fabric: dict, pools: dict, rack: dict | None = None) -> tuple[Facility, Fabric]:
    """The hall and the fabric of a small blueprint."""
    hall = {"kind": "on-prem", "rack": {"power": "200kW", "units": 48} | (rack or {})}
    wanted = {"site": "h", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "switch": "qm9700"} | fabric
    blueprint, findings = parse({"kind": "Cluster", "schema": 1, "name": "small", "sites": {"h": hall}, "nodes": {name: {"site": "h"} | pool for name, pool in pools.items()}, "fabrics": {"f": wanted}})
    assert blueprint, findings
    found, findings = design(blueprint)
    assert found, findings
    return found.facilities["h"], found.fabrics["f"]


def gpus(system: str, count: int, **more: object) -> dict:
    return {"gpu": {"system": system, "count": count, **more}}


RAILS, SM = {"topology": "rail-fat-tree"}, {"sm": {"system": "generic-1u", "count": 2}}
FEW = {"row_length": 2}
SMALL = {
    "rails of DGX": (RAILS | {"unit": 4}, gpus("dgx-h100", 12), None),
    "rails of HGX": (RAILS | {"unit": 4}, gpus("hgx-h100", 11), None),
    "rails over a long hall": (RAILS | {"unit": 8}, gpus("dgx-h100", 64), FEW),
    "rail groups alone": ({"topology": "rail-only", "unit": 4}, gpus("hgx-b200", 7), None),
    "a manager beside hosts of another speed": (RAILS | {"unit": 32, "manager": {"kind": "ufm", "pool": "sm"}}, gpus("dgx-h100", 31) | SM, None),
    "a tree": ({}, gpus("hgx-h100", 20), None),
    "a tree of DGX": ({}, gpus("dgx-b200", 20), FEW),
    "a tree with odd down-ports": ({"oversubscription": 1.9}, gpus("pcie-h100", 40), None),
    "one leaf": ({}, gpus("hgx-h100", 3), None),
    "three tiers": (RAILS | {"unit": 4, "tiers": 3, "pod": 2}, gpus("dgx-h100", 16), None),
    "a dragonfly": ({"topology": "dragonfly", "group": {"hosts": 8, "leaves": 4, "links": 2}}, gpus("dgx-h100", 20), None),
    "a dragonfly of odd routers": ({"topology": "dragonfly", "group": {"hosts": 7, "leaves": 3, "links": 3}}, gpus("dgx-gb200", 30), FEW),
    "a dragonfly+": ({"topology": "dragonfly-plus", "group": {"leaves": 2, "spines": 2}}, gpus("hgx-h100", 12), None),
    "two planes": (RAILS | {"technology": "roce", "switch": "sn5600", "unit": 4, "planes": 2}, gpus("dgx-b300", 9), None),
    "800G": (RAILS | {"switch": "q3400-ra", "unit": 4}, gpus("dgx-b300", 9), FEW),
    "200G": (RAILS | {"switch": "qm8700", "unit": 4}, gpus("dgx-a100", 9), FEW),
    "200G in cages of four": ({"purpose": "storage"}, gpus("hgx-h100", 41), FEW),
    "200G of four lanes": ({}, gpus("dgx-a100", 9), None),
    "two speeds": ({"purpose": "storage", "connects": ["gpu", "oss"]}, gpus("hgx-h100", 21) | {"oss": {"system": "lustre-oss", "count": 8}}, None),
    "sockets for uplinks": ({"purpose": "management", "technology": "ethernet", "switch": "sn2201"}, gpus("dgx-h100", 150), FEW),
    "uplinks at both ends": ({"purpose": "management", "technology": "ethernet", "switch": "sn2201", "spine": "sn2201"}, gpus("dgx-h100", 150), FEW),
    "another model above": ({"purpose": "management", "technology": "ethernet", "switch": "sn2201", "spine": "sn4600c"}, gpus("dgx-h100", 150), FEW),
    "cages that no cable joins": ({"purpose": "management", "technology": "ethernet", "switch": "sn2201", "spine": "sn5600"}, gpus("dgx-h100", 150), None),
    "hosts of several cages behind one kind of transceiver": ({"purpose": "in-band", "technology": "ethernet", "switch": "sn4600c"}, gpus("dgx-h100", 30) | {"cpu": {"system": "generic-1u", "count": 20}, "old": {"system": "pcie-h100", "count": 8}}, FEW),
    "in-band": ({"purpose": "in-band", "technology": "ethernet", "switch": "sn4600c"}, gpus("dgx-h100", 40), FEW),
}  # fmt: skip


@cache
def small(name: str) -> tuple[Facility, Fabric]:
    return built(*SMALL[name])


# --- the second count


def goes_into(plug: str, cage: str | None) -> bool:
    return cage in NEWER.get(plug, {plug})


class Slow:
    """Links by name, with the cages of both ends worked out one at a time."""

    def __init__(self, facility: Facility, fabric: Fabric) -> None:
        self.fabric, self.links = fabric, list(fabric.wiring())
        models = {name: tier.switch for tier in fabric.tiers for name in tier.names}
        fastest: Counter[str] = Counter()
        for link in self.links:
            for name in {link.a, link.b} & set(models):
                if link.gbps != models[name].uplink_gbps:
                    fastest[name] = max(fastest[name], link.gbps)
        self.kinds: dict[tuple[str, int], tuple[str | None, int, bool]] = {}  # cage → its form, links that it has room for, of a host
        self.ends = [tuple(self._switch(models[n], n, int(p), link.gbps, fastest[n]) if n in models else self._host(n, p) for n, p in ((link.a, link.a_port), (link.b, link.b_port))) for link in self.links]
        self.parts = [self._part(models[link.b], int(link.b_port), link.gbps, fastest[link.b]) for link in self.links]
        self.need = [float(lengths(places(facility, [link.a]), places(facility, [link.b]))[0]) for link in self.links]

    def _switch(self, model: catalog.Switch, name: str, port: int, gbps: int, fastest: int) -> tuple[str, int]:
        own = gbps if model.uplink_gbps else fastest
        cage = name, model.cage(own, port)[0]
        self.kinds[cage] = ((model.uplink_form if gbps == model.uplink_gbps else model.form), model.shares(own), False)
        return cage

    def _part(self, model: catalog.Switch, port: int, gbps: int, fastest: int) -> int:
        return model.cage(gbps if model.uplink_gbps else fastest, port)[1]

    def _host(self, name: str, port: str) -> tuple[str, int]:
        manager, planes = self.fabric.manager, self.fabric.planes
        if manager and manager.ports and name in manager.hosts:
            nic, number = manager.nic, manager.nic.rdma_names.index(port)
        else:
            nic = self.fabric.nics[pool_of(name)]
            number = port_names(self.fabric, pool_of(name)).index(port) % nic.count
        beside = nic.cages.count(nic.cages[number]) if nic.cages else 1
        cage = name, nic.cages[number] if nic.cages else number + 1
        self.kinds[cage] = (catalog.nic(nic.nic).form, beside * (planes if name in self.fabric.hosts else 1), True)
        return cage

    def may(self, cable: catalog.Cable, i: int) -> bool:
        """Whether link i may be made of it, were it alone."""
        link, (near, far) = self.links[i], self.ends[i]
        if cable.gbps != link.gbps or self.fabric.technology not in cable.technologies or not self.need[i] <= cable.longest_m:
            return False
        for cage in (near, far):
            form, room, host = self.kinds[cage]
            if host:
                if not any(end.links == room and goes_into(kind.removeprefix("twin_"), form) for kind, end in cable.host_ends.items()):
                    return False
            elif ("host-switch" if self.kinds[near][2] else "switch-switch") not in cable.between or not goes_into(cable.cage, form):
                return False
            elif room > (cable.switch_transceiver.links if cable.switch_transceiver else cable.links) or not cable.switch_transceiver and room < cable.links:
                return False
        return True

    def fits(self, cable: catalog.Cable, knot: list[int]) -> bool:
        """Whether all of these links may be made of it together."""
        if not all(self.may(cable, i) for i in knot):
            return False
        if cable.switch_transceiver:
            return True
        near, far = {self.ends[i][0] for i in knot}, {self.ends[i][1] for i in knot}
        if len(knot) > cable.links:
            return False
        fans = cable.host_ends and cable.links > 1 and all(end.links == 1 for end in cable.host_ends.values())
        return len(far) == 1 and len(near) == len(knot) if fans else len(near | far) == 2

    def order(self) -> tuple[Counter, Counter, set]:
        """(cables by model, speed and length; transceivers by end and model; cages that need two plugs)."""
        chosen = self._chosen()
        cables, plugs, kinds = Counter(), set(), defaultdict(set)
        for cable, knot in chosen:
            for bundle in self._bundles(cable, knot):
                need = max(self.need[i] for i in bundle)
                stock = [m for m in cable.lengths_m if need <= m <= cable.longest_m]
                cables[cable.model, cable.gbps, min(stock) if stock else -(-need // cable.step_m) * cable.step_m] += 1
            for cage in {cage for i in knot for cage in self.ends[i]}:
                kinds[cage].add(cable.id)
                if plug := self._plug(cable, cage):
                    plugs.add((*plug, cage))
        return cables, Counter(plug[:2] for plug in plugs), {cage for cage, ids in kinds.items() if len(ids) > 1}

    def served(self) -> Counter:
        """Links by the transceiver at an end of them: each once for a model of switches or of hosts, whichever of its ends has it."""
        return Counter(plug for cable, knot in self._chosen() for i in knot for plug in {self._plug(cable, cage) for cage in self.ends[i]} - {None})

    def _chosen(self) -> list[tuple[catalog.Cable, list[int]]]:
        """The links that are made of one kind of cable together, with that cable."""
        known = sorted(catalog.entries("cables"), key=lambda c: (ORDER.index(c.medium), c.reach_m, c.id))
        alone = [i for i in range(len(self.links)) if any(self.may(cable, i) for cable in known)]
        graph = nx.Graph((self.ends[i][0], self.ends[i][1]) for i in alone)
        knots = defaultdict(list)
        names = {cage: n for n, group in enumerate(nx.connected_components(graph)) for cage in group}
        for i in alone:
            knots[names[self.ends[i][0]]].append(i)
        chosen: list[tuple[catalog.Cable, list[int]]] = []
        for knot in knots.values():
            chosen += self._settle(known, knot)
        return chosen

    def _plug(self, cable: catalog.Cable, cage: tuple[str, int]) -> tuple[str, str] | None:
        """The transceiver that this cable has in this cage: at whose end, and its model; None at a cable with fixed ends."""
        if not cable.switch_transceiver:
            return None
        form, room, host = self.kinds[cage]
        if not host:
            return "switch transceiver", cable.switch_transceiver.model
        return "host transceiver", next(e.model for kind, e in cable.host_ends.items() if e.links == room and goes_into(kind.removeprefix("twin_"), form))

    def _settle(self, known: list[catalog.Cable], knot: list[int]) -> list[tuple[catalog.Cable, list[int]]]:
        for cable in known:
            if self.fits(cable, knot):
                return [(cable, knot)]
        out = []
        for gbps in sorted({self.links[i].gbps for i in knot}):
            same = [i for i in knot if self.links[i].gbps == gbps]
            whole = next((cable for cable in known if self.fits(cable, same)), None)
            out += [(whole, same)] if whole else [(next(c for c in known if self.fits(c, [i])), [i]) for i in same]
        return out

    def _bundles(self, cable: catalog.Cable, knot: list[int]) -> list[list[int]]:
        if not cable.switch_transceiver:
            return [knot]
        if cable.links == 1:
            return [[i] for i in knot]
        found = defaultdict(list)
        for i in knot:
            room, ports = self.kinds[self.ends[i][1]][1], cable.switch_transceiver.links // cable.links
            found[self.ends[i][1], self.parts[i] * ports // max(room, ports)].append(i)
        return list(found.values())


def ordered(facility: Facility, fabric: Fabric) -> tuple[Counter, Counter]:
    cables, plugs = Counter(), Counter()
    for part in parts(runs(facility, fabric)):
        if part.what != "cable":
            plugs[part.what, part.model] += part.count
        elif part.model != NO_CABLE:
            cables[part.model, part.gbps, part.length_m] += part.count
    return cables, plugs


def served(facility: Facility, fabric: Fabric) -> Counter:
    """Links by transceiver, as the lines of the order have them."""
    found = Counter()
    for part in parts(runs(facility, fabric)):
        if part.what != "cable":
            found[part.what, part.model] += part.links
    return found


@pytest.mark.parametrize("name", SMALL)
def test_an_order_is_that_of_the_slow_count(name: str):
    facility, fabric = small(name)
    slow, every = Slow(facility, fabric), cages(fabric)
    assert slow.ends == [(every.place(a), every.place(b)) for one in runs(facility, fabric) for a, b in zip(*(end.tolist() for end in one.ends), strict=True)]
    cables, plugs, twice = slow.order()
    assert (cables, plugs) == ordered(facility, fabric)
    assert slow.served() == served(facility, fabric)
    assert {(found.device, found.cage) for found in crowded(facility, fabric)} == twice


def test_the_small_fabrics_are_of_every_kind():
    """Or the count above would not have been tried on it."""
    fabrics = [small(name)[1] for name in SMALL]
    assert {f.topology for f in fabrics} == {"rail-fat-tree", "fat-tree", "rail-only", "dragonfly", "dragonfly-plus"}
    assert {c.joins for f in fabrics for c in f.wiring()} == {"host-leaf", "manager-leaf", "leaf-spine", "spine-core", "leaf-leaf", "group-group"}
    media = {run.cables[i].medium for name in SMALL for run in runs(*small(name)) for i in set(run.cable.tolist()) if i >= 0}
    assert media == set(ORDER)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    system=st.sampled_from(["dgx-h100", "hgx-h100", "dgx-gb200", "pcie-h100"]), nodes=st.integers(1, 24), ratio=st.sampled_from([1, 1.3, 2, 3]), row=st.integers(2, 30),
    topology=st.sampled_from(["fat-tree", "rail-fat-tree"]), purpose=st.sampled_from(["compute", "storage"]),
)  # fmt: skip
def test_each_end_of_a_link_is_plugged_in_once(system: str, nodes: int, ratio: float, row: int, topology: str, purpose: str):
    facility, fabric = built({"topology": topology, "purpose": purpose, "oversubscription": ratio}, gpus(system, nodes), {"row_length": row})
    slow = Slow(facility, fabric)
    assert slow.order()[:2] == ordered(facility, fabric)
    laid = runs(facility, fabric)
    ends = Counter(cage for one in laid for end in one.ends for cage in end.tolist())
    assert sum(ends.values()) == 2 * fabric.cables.total == 2 * len(slow.links)
    assert Counter(ends.values()) == Counter(Counter(cage for pair in slow.ends for cage in pair).values())
    served = sum(part.links for part in parts(laid) if part.what == "cable")
    assert served == len(slow.links)
    optics = {(cage, one.cables[c].id) for one in laid for end in one.ends for cage, c in zip(end.tolist(), one.cable.tolist(), strict=True) if c >= 0 and one.cables[c].switch_transceiver}
    assert len(optics) == len({cage for cage, _ in optics}) == sum(part.count for part in parts(laid) if part.what != "cable"), "one transceiver for each cage with fibres"


# --- by hand


def test_a_manager_at_another_speed_crowds_a_cage():
    """A unit of 32 nodes less one: ports 1 to 31 of a leaf are nodes', port 32 of the first four is UFM's: cage 16 has one of each."""
    facility, fabric = small("a manager beside hosts of another speed")
    found = crowded(facility, fabric)
    assert [(one.device, one.cage) for one in found] == [(f"f-su1-leaf{n}", 16) for n in range(1, 5)]
    assert all({cable.gbps for cable in one.cables} == {200, 400} for one in found)


def test_four_links_of_200g_share_a_transceiver_and_two_a_fibre():
    """41 machines with two ports each at 200G on QM9700: 82 ports are 41 split fibres at whole cages of four, and 20 full cages with one
    of two links; each port of a host has a transceiver of its own (NVIDIA, MMA4Z00-NS400-T: four adapters of 200G at one twin-port)."""
    facility, fabric = small("200G in cages of four")
    assert fabric.switches == 1, "82 of 128 ports"
    cables, plugs = ordered(facility, fabric)
    assert sum(cables.values()) == 41
    assert plugs == {("switch transceiver", "MMA4Z00-NS"): 21, ("host transceiver", "MMA1Z00-NS400"): 82}


def test_older_adapters_have_two_links_a_cage():
    """ConnectX-6 runs 200G over four lanes of 50G, of which an OSFP cage has room for two: MCP7Y60 and MFA7U10 have as many ends, so
    that nine DGX A100 with eight ports each take 36. Between switches no cable of such links is known."""
    facility, fabric = small("200G of four lanes")
    assert {(near.form, near.links, near.host, far.links) for (_, near, far) in unfit(fabric)} == {("osfp", 2, False, 2)}
    cables, plugs = ordered(facility, fabric)
    assert {model for model, *_ in cables} <= {"MCP7Y60-Hxxx", "MFA7U10-H00x"} and sum(cables.values()) == 9 * 8 / 2 and not plugs


def test_each_end_has_the_cage_of_its_own_switch():
    """QSFP28 on the SN2201 and the SN4600C; OSFP on the SN5600, to which the catalog has no cable from there."""
    assert not unfit(small("another model above")[1])
    ((gbps, near, far), count), = unfit(small("cages that no cable joins")[1]).items()
    assert (gbps, near.form, far.form, count) == (100, "qsfp28", "osfp", small("cages that no cable joins")[1].cables.leaf_spine)


def test_ports_of_two_planes_leave_from_one_cage():
    """Nine DGX B300 with eight cages, of which each has a link to both planes."""
    _, plugs = ordered(*small("two planes"))
    assert {count for (what, _), count in plugs.items() if what == "host transceiver"} == {9 * 8}


def test_a_twin_cage_takes_a_straight_cable_where_both_links_end_in_one_cage(monkeypatch: pytest.MonkeyPatch):
    """MCP4Y10 with a flat top: a machine whose neighbouring ports share a cage, beside its leaf."""
    nic = catalog.system("dgx-h100").nics["compute"]
    twin = nic.model_copy(update={"cages": (1, 1, 2, 2, 3, 3, 4, 4)})
    monkeypatch.setitem(catalog.system("dgx-h100").nics, "compute", twin)
    facility, fabric = built({}, gpus("dgx-h100", 1))
    near = tuple(Standing(name, unit, 1, None, None, "") for name, unit in (("gpu0001", 1), ("f-leaf1", 10)))
    cables, plugs = ordered(replace(facility, racks=(Rack("r", 1, 1, near),)), fabric)
    assert not plugs and {model for model, _, _ in cables} == {"MCP4Y10-Nxxx, one end flat top"} and sum(cables.values()) == 4


@pytest.mark.parametrize("file", sorted(CASES.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_cases_are_those_of_the_slow_count(file: Path):
    state = run(file.read_text(), file.name)
    assert state.design, state.findings
    for fabric in state.design.fabrics.values():
        if fabric.cables.total < 2000:
            facility = state.design.facilities[fabric.site]
            assert Slow(facility, fabric).order()[:2] == ordered(facility, fabric)


