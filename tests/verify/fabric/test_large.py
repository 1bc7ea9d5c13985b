"""Fabrics of a thousand adapters and more: the proof is the same as of small ones, and where a part of it is left out, it is no proof.

The faults are those of test_faults.py, in sizes above those at which routes were once left unwalked.
"""

import numpy as np
import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import fabric as target
from iacgen.verify import fabric as opensm
from iacgen.verify import unproven
from iacgen.verify.fabric import evidence, simgrid
from iacgen.verify.fabric.rules import of_plan
from iacgen.verify.fabric.settings import Settings, guids, planned

PARTITIONS = "Default=0x7fff,ipoib,mtu=5: ALL=full, ALL_SWITCHES=full, SELF=full;\n"
FIVE_UNITS = {"units": 5, "hosts": 32, "spines": 32, "parallel": 1}  # 160 nodes of eight adapters on 64-port switches


@pytest.fixture(scope="module")
def rails(fabrics):
    made = fabrics.rails(**FIVE_UNITS)
    assert len(made.adapters) == 1280
    return made


def spoilt_roots(plan, engine, names):
    """Settings whose file of roots lists these switches."""
    sound = planned(plan, engine, PARTITIONS)
    return Settings(sound.keys, {**sound.files, sound.keys["root_guid_file"]: guids([plan.guids[name] for name in names])})


@pytest.mark.judge("opensm")
def test_1280_adapters_are_walked_to_the_last_pair(fabrics, rails):
    seen, slugs, findings = fabrics.examine(rails, planned(rails, "ftree", PARTITIONS))
    assert not slugs, findings
    assert seen.routes.pairs == seen.opinion.scanned == 1280 * 1279 and not seen.routes.unreachable and not seen.left
    assert (seen.congestion.worst, seen.congestion.clean, seen.routes.unused()) == (1, 1279, [])


@pytest.mark.judge("opensm")
def test_routes_that_are_lost_among_1280_adapters(fabrics, rails):
    """Leaves as roots of updn: up, no error line, and most pairs without a route."""
    seen, slugs, _ = fabrics.examine(rails, spoilt_roots(rails, "updn", rails.leaves))
    assert seen.up and not seen.errors and {"unreachable-adapter", "second-opinion"} <= slugs
    assert seen.routes.unreachable == seen.opinion.missing > 1_000_000


@pytest.mark.judge("opensm")
def test_two_uplinks_exchanged_among_1280_adapters(fabrics, rails):
    """Every pair arrives; two flows meet where the spines have two links to one leaf and none to another."""
    wired = fabrics.exchange(rails, ("su0-leaf0", 33), ("su4-leaf7", 64))
    seen, slugs, _ = fabrics.examine(rails, planned(rails, "ftree", PARTITIONS), wired)
    assert seen.up and not seen.errors and not seen.routes.unreachable
    assert {"wiring-not-of-plan", "congested-link"} <= slugs and seen.congestion.worst > 1


@pytest.mark.judge("opensm")
def test_an_engine_that_is_cyclic_on_a_dragonfly_of_1176_hosts(fabrics):
    """49 groups of eight routers: our walk and that of ibdmchk find the circle that minhop makes."""
    plan = fabrics.dragonfly(3, 8, 6)
    assert len(plan.adapters) == 1176
    seen, slugs, _ = fabrics.examine(plan, planned(plan, "minhop", PARTITIONS))
    assert seen.up and not seen.errors and {"credit-loop", "second-opinion"} <= slugs
    assert seen.cycle and seen.opinion.loops


@pytest.mark.judge("opensm")
def test_a_core_that_is_not_there_among_4096_adapters(fabrics):
    """Four pods of 32 leaves with 64-port switches: all that is wrong is one core of 64, which nobody cabled."""
    plan = fabrics.cubic(64, 4)
    assert len(plan.adapters) == 4096
    gone = plan.roots[40]
    kept = [name for name in plan.roots if name != gone]
    seen, slugs, findings = fabrics.examine(plan, spoilt_roots(plan, "ftree", kept), fabrics.without(plan, gone))
    assert seen.up and not seen.errors and slugs == {"wiring-not-of-plan", "congested-link"}, findings
    assert seen.routes.pairs == seen.opinion.scanned == 4096 * 4095 and not seen.routes.unreachable


@pytest.fixture(scope="module")
def small(fabrics):
    return fabrics.rails(units=2, rails=4, hosts=8, spines=8, parallel=1, radix=16)


@pytest.mark.judge("opensm")
def test_without_a_second_opinion_routes_are_walked_all_the_same(fabrics, small, monkeypatch):
    """As if 9,000 were 60: what is left out is told, and what is wrong is found."""
    monkeypatch.setattr(evidence, "HEARD", 60)
    monkeypatch.setattr(evidence, "_KNOWN", {})
    seen, slugs, (told,) = fabrics.examine(small, planned(small, "ftree"))
    assert slugs == {"fabric-judged-in-part"} and told.severity == "warning" and "ibdmchk was not asked" in told.message
    assert seen.opinion is None and seen.routes.pairs == 64 * 63 and seen.congestion.worst == 1
    wired = fabrics.exchange(small, ("su0-leaf0", 9), ("su1-leaf3", 16))
    assert {"fabric-judged-in-part", "wiring-not-of-plan", "congested-link"} <= fabrics.examine(small, planned(small, "ftree"), wired)[1]


@pytest.mark.judge("opensm")
def test_a_circle_that_lanes_may_break_is_no_fault_and_no_proof_where_they_are_too_many(fabrics, monkeypatch):
    """As if 1.5 million pairs were 1,000: without lanes dfsssp has a circle, which nobody can say is one."""
    plan = fabrics.dragonfly(2, 4, 2)
    monkeypatch.setattr(evidence, "LANED", 1000)
    monkeypatch.setattr(evidence, "_KNOWN", {})
    seen, slugs, (told,) = fabrics.examine(plan, planned(plan, "dfsssp", PARTITIONS, lanes=True))
    assert slugs == {"fabric-judged-in-part"} and "lanes of so many paths" in told.message and not seen.laned
    cyclic = fabrics.examine(plan, planned(plan, "minhop", PARTITIONS))[1]  # has no lanes that could break it
    assert "credit-loop" in cyclic and "fabric-judged-in-part" not in cyclic


# Compute and storage on InfiniBand, of which only one is above the limits that the tests set.
BLUEPRINT = """
kind: Cluster
schema: 1
name: pod
sites: {hall: {kind: on-prem}}
nodes:
  gpu: {site: hall, system: dgx-h100, count: 8}
  oss: {site: hall, system: lustre-oss, count: 2}
  mds: {site: hall, system: lustre-mds, count: 2}
  ctl: {site: hall, system: generic-1u, count: 2}
fabrics:
  compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-fat-tree, switch: qm9700, unit: 4, manager: {kind: opensm, pool: ctl}}
  storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: infiniband, topology: fat-tree, switch: qm9700, manager: {kind: opensm, pool: mds}}
"""


@pytest.fixture
def written(tmp_path):
    state = run(BLUEPRINT, "pod.yaml", "lab")
    assert state.project, state.findings
    apply(plan(target.render(state.project), tmp_path / "out"), tmp_path / "out")
    return tmp_path / "out", state.project


@pytest.mark.judge("opensm", "simgrid")
@pytest.mark.parametrize(("judge", "name", "most"), [(opensm, "MOST", 50), (simgrid, "MOST", 10), (evidence, "HEARD", 50)])
def test_a_fabric_that_is_too_large_for_a_part_of_the_proof_is_not_passed(written, monkeypatch, judge, name, most):
    """Though another fabric of the tree is small enough for all of it."""
    monkeypatch.setattr(judge, name, most)
    monkeypatch.setattr(evidence, "_KNOWN", {})
    verdict = (simgrid if judge is simgrid else opensm).verify(*written)
    (told,) = verdict.findings
    assert (verdict.status, told.slug, told.severity, told.path) == ("in-part", "fabric-judged-in-part", "warning", ("fabrics", "compute"))
    assert not verdict.proves and unproven([verdict]) == [verdict]


@pytest.mark.judge("opensm")
def test_a_fault_of_a_fabric_that_is_judged_in_part_is_a_fault(written, monkeypatch):
    """Above what the simulator holds, too: the lists are compared before any program runs."""
    monkeypatch.setattr(opensm, "MOST", 50)
    file = written[0] / "fabric/compute/p2p.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    assert opensm.verify(*written).status == "failed"


def test_what_circles_costs_no_more_memory_than_what_arrives(fabrics):
    """600 switches in a ring, from which one adapter of three is never reached: steps that lead nowhere are not kept."""
    from iacgen.verify.fabric.discovered import Wiring
    from iacgen.verify.fabric.routes import read

    count = 600
    switches, hosts = [f"s{i}" for i in range(count)], [f"h{i} mlx5_0" for i in (0, 1, 2)]
    numbers = {name: 16 * i + 0x1000 for i, name in enumerate((*switches, *hosts))}
    links = {(hosts[i], 1, switches[i], 1) for i in range(3)} | {(switches[i], 2, switches[(i + 1) % count], 3) for i in range(count)}
    blocks = []
    for i in range(count):
        ports = [1 if i == to else (2 if i < to else 3) for to in (0, 1)] + [2]  # to the third adapter clockwise, past its own switch
        lines = [f"0x{to + 1:04x} {port:03d} # Channel Adapter portguid 0x{numbers[hosts[to]] + 1:016x}: 'x'" for to, port in enumerate(ports)]
        blocks.append("\n".join([f"Unicast lids [0-3] of switch Lid {i + 4} guid 0x{numbers[switches[i]]:016x} ('{switches[i]}'):", *lines, "3 lids dumped"]))
    made = read("\n".join(blocks).encode(), Wiring(dict.fromkeys(switches, 3), tuple(hosts), frozenset(links), numbers))
    assert (made.loops, made.unreachable) == (2, 0) and np.flatnonzero(made.looping.any(axis=0)).tolist() == [2]
    assert len(made.steps) == 2  # the longest way that ends: over one link between switches, or two from h2 to h0


def test_a_plan_of_8192_adapters_names_every_port_once(fabrics):
    """The check before any program: no port twice, on lists of the largest size that is proven in all its parts."""
    made = fabrics.cubic(64, 8)
    assert len(made.adapters) == 8192 <= evidence.HEARD < evidence.MOST
    assert not list(of_plan(made, ()))
    assert [f.slug for f in of_plan(made.with_links((*made.links, made.links[-1])), ())] == ["malformed-cable-list"]
