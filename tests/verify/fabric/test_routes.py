"""Walking forwarding tables: two leaves, two spines, four adapters, tables written by hand."""

import numpy as np
import pytest

from iacgen.verify.fabric.congestion import shifts
from iacgen.verify.fabric.cycles import cycle
from iacgen.verify.fabric.discovered import Wiring
from iacgen.verify.fabric.routes import read

A, B, C, D = (f"host{n} mlx5_0" for n in range(4))
LEAF0, LEAF1, SPINE0, SPINE1 = "leaf0", "leaf1", "spine0", "spine1"
GUIDS = {LEAF0: 0x10, LEAF1: 0x20, SPINE0: 0x30, SPINE1: 0x40, A: 0x100, B: 0x110, C: 0x120, D: 0x130}
# Ports 1 and 2 of a leaf lead to its adapters, 3 to spine0, 4 to spine1; port n of a spine to leaf n - 1.
WIRING = Wiring(
    {LEAF0: 4, LEAF1: 4, SPINE0: 2, SPINE1: 2},
    (A, B, C, D),
    frozenset(
        {(A, 1, LEAF0, 1), (B, 1, LEAF0, 2), (C, 1, LEAF1, 1), (D, 1, LEAF1, 2)}
        | {(LEAF0, 3, SPINE0, 1), (LEAF0, 4, SPINE1, 1), (LEAF1, 3, SPINE0, 2), (LEAF1, 4, SPINE1, 2)}
    ),
    GUIDS,
)
# Destinations A, C by spine0 and B, D by spine1: free of contention in every shift.
SPREAD = {LEAF0: (1, 2, 3, 4), LEAF1: (3, 4, 1, 2), SPINE0: (1, 1, 2, 2), SPINE1: (1, 1, 2, 2)}
ONE_SPINE = SPREAD | {LEAF0: (1, 2, 3, 3), LEAF1: (3, 3, 1, 2)}
NO_WAY_TO_D = SPREAD | {LEAF0: (1, 2, 3, None)}
INTO_A_HOLE = SPREAD | {LEAF0: (1, 2, 3, 7)}
CIRCLING = SPREAD | {SPINE1: (1, 1, 2, 1)}  # for D back to the leaf it came from


def dump(tables):
    """opensm-lfts.dump: one block a switch, adapters' ports with their LIDs 1 to 4, and the switch itself, which is skipped."""
    blocks = []
    for switch, ports in tables.items():
        lines = [f"Unicast lids [0-5] of switch Lid 9 guid 0x{GUIDS[switch]:016x} ('{switch}'):"]
        for lid, (name, port) in enumerate(zip((A, B, C, D), ports, strict=True), 1):
            if port is not None:
                lines.append(f"0x{lid:04x} {port:03d} # Channel Adapter portguid 0x{GUIDS[name] + 1:016x}: '{name}'")
        lines.append(f"0x0009 000 # Switch portguid 0x{GUIDS[switch]:016x}: '{switch}'")
        blocks.append("\n".join([*lines, f"{len(lines) - 1} lids dumped"]))
    return ("\n".join(blocks) + "\n").encode()


def test_every_pair_arrives_by_the_way_of_the_tables():
    routes = read(dump(SPREAD), WIRING)
    assert (routes.pairs, routes.unreachable, routes.loops) == (12, 0, 0)
    way = [routes.channels[c] for c in routes.path(routes.index[A], routes.index[D])]
    assert way == [(LEAF0, 4), (SPINE1, 2)]
    assert routes.path(routes.index[A], routes.index[B]) == []
    assert routes.unused() == [] and len(routes.channels) == 8
    assert cycle(routes) is None


def test_one_flow_a_link_where_destinations_are_spread():
    assert (found := shifts(read(dump(SPREAD), WIRING), (A, B, C, D))).worst == 1
    assert (found.clean, found.total) == (3, 3)


def test_two_flows_where_one_spine_takes_all():
    routes = read(dump(ONE_SPINE), WIRING)
    found = shifts(routes, (A, B, C, D))
    # Shift 2 sends A and B to C and D over one uplink; shifts 1 and 3 have one flow each way.
    assert (found.worst, found.shift, found.clean, found.total) == (2, 2, 2, 3)
    assert (found.switch, found.port) in {(LEAF0, 3), (LEAF1, 3), (SPINE0, 1), (SPINE0, 2)}
    assert {(switch, port) for switch, port, _ in routes.unused()} == {(LEAF0, 4), (LEAF1, 4), (SPINE1, 1), (SPINE1, 2)}


@pytest.mark.parametrize("tables", [NO_WAY_TO_D, INTO_A_HOLE])
def test_a_pair_without_a_route(tables):
    routes = read(dump(tables), WIRING)
    assert (routes.unreachable, routes.loops) == (2, 0)
    assert routes.example(routes.lost)[1] == D and routes.example(routes.lost)[0] in (A, B)


def test_packets_that_circle():
    routes = read(dump(CIRCLING), WIRING)
    assert (routes.unreachable, routes.loops) == (0, 2)
    assert routes.example(routes.looping)[1] == D


def test_a_dump_of_other_switches_is_refused():
    with pytest.raises(ValueError, match="3 switches, and 4"):
        read(dump({k: v for k, v in SPREAD.items() if k != SPINE1}), WIRING)


def ring_of_switches(count, way):
    """``count`` switches in a ring with an adapter each, all packets clockwise (port 2 out, port 3 in) or by ``way(near, far)``."""
    names = [f"s{i}" for i in range(count)]
    hosts = [f"h{i} mlx5_0" for i in range(count)]
    guids = {name: 0x1000 + 16 * i for i, name in enumerate((*names, *hosts))}
    links = {(hosts[i], 1, names[i], 1) for i in range(count)} | {tuple(sum(sorted([(names[i], 2), (names[(i + 1) % count], 3)]), ())) for i in range(count)}
    blocks = []
    for i, name in enumerate(names):
        lines = [f"Unicast lids [0-{count}] of switch Lid {i + 1} guid 0x{guids[name]:016x} ('{name}'):"]
        lines += [f"0x{j + 1:04x} {1 if i == j else way(i, j):03d} # Channel Adapter portguid 0x{guids[hosts[j]] + 1:016x}: '{hosts[j]}'" for j in range(count)]
        blocks.append("\n".join([*lines, f"{count} lids dumped"]))
    return read("\n".join(blocks).encode(), Wiring(dict.fromkeys(names, 3), tuple(hosts), frozenset(links), guids))


def test_a_ring_of_switches_waits_for_itself_and_a_line_does_not():
    clockwise = ring_of_switches(5, lambda near, far: 2)
    lane, channels = cycle(clockwise)
    assert lane == 0 and sorted(channels) == [(f"s{i}", 2) for i in range(5)]
    line = ring_of_switches(5, lambda near, far: 2 if far > near else 3)  # never over the link from s4 to s0
    assert cycle(line) is None
    assert {(switch, port) for switch, port, _ in line.unused()} == {("s4", 2), ("s0", 3)}


def test_lanes_break_the_circle():
    """Packets that pass from s4 to s0 on two lanes of their own: from s3 and s4 on lane 1, from s1 and s2 on lane 2."""
    routes = ring_of_switches(5, lambda near, far: 2)
    lanes = np.array([[0 if far >= near else 1 if near >= 3 else 2 for far in range(5)] for near in range(5)], dtype=np.int8)
    assert cycle(routes, lanes) is None
    assert cycle(routes, np.zeros((5, 5), dtype=np.int8)) is not None
    lanes[1, 0] = 1  # over s1, s2, s3 and s4: the two links that lane 1 had not
    lane, channels = cycle(routes, lanes)
    assert lane == 1 and len(channels) == 5
