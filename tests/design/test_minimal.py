"""Shortest ways and how they are balanced: by hand on small networks, and against networkx on random ones."""

from itertools import cycle

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from iacgen.design.fabric.minimal import Network, balanced
from iacgen.design.fabric.model import Links
from iacgen.design.fabric.scatter import Crowds, scattered


def network(pairs, switches):
    a, b = (np.array(end, dtype=np.int64) for end in zip(*pairs, strict=True))
    return Network.of([Links("leaf-leaf", 400, a, a, b, b)], switches)


def test_flows_are_spread_over_equally_short_ways():
    """A square: each of two hosts at one corner is reached from the opposite one by another way."""
    square = network([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    ways = balanced(square, np.array([0, 0, 2, 2]), range(4))
    firsts = [int(square.beyond.ravel()[ways[2, host, 0]]) for host in (0, 1)]
    assert sorted(firsts) == [1, 3]


def test_parallel_links_are_two_links():
    two = network([(0, 1), (0, 1)], 2)
    ways = balanced(two, np.array([0, 1, 1]), range(3))
    assert sorted(ways[0, 1:, 0].tolist()) == [0, 1]
    assert ways[0, 0].tolist() == [two.beyond.size]  # a host of the same switch needs no link


@st.composite
def graphs(draw):
    switches = draw(st.integers(2, 9))
    tree = [(draw(st.integers(0, i - 1)), i) for i in range(1, switches)]
    more = draw(st.lists(st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1)).filter(lambda pair: pair[0] != pair[1]), max_size=12))
    hosts = draw(st.lists(st.integers(0, switches - 1), min_size=2, max_size=12))
    return [*tree, *more], switches, hosts


@given(graphs())
def test_every_way_is_a_shortest_one(drawn):
    pairs, switches, hosts = drawn
    net = network(pairs, switches)
    lengths = dict(nx.all_pairs_shortest_path_length(nx.Graph(pairs)))
    ways = balanced(net, np.array(hosts), range(len(hosts)))
    for near in range(switches):
        for host, far in enumerate(hosts):
            at, taken = near, [int(link) for link in ways[near, host] if link < net.beyond.size]
            for link in taken:
                assert link // net.width == at
                at = int(net.beyond[at, link % net.width])
            assert at == far and len(taken) == lengths[near][far]


@given(graphs())
def test_a_scattered_order_has_everybody_once(drawn):
    pairs, switches, hosts = drawn
    order = scattered(network(pairs, switches), hosts)
    assert sorted(order) == list(range(len(hosts))) and order == scattered(network(pairs, switches), hosts)


@given(graphs(), st.lists(st.floats(0, 1, exclude_max=True), min_size=5))
def test_counts_are_kept_while_hosts_change_places(drawn, dice):
    """What is kept by adding and taking away equals what a new count finds."""
    pairs, switches, hosts = drawn
    net, there = network(pairs, switches), np.array(hosts)
    ways = balanced(net, there, range(len(hosts)))
    kept = Crowds(np.arange(len(hosts)), there, ways, net.beyond.size)
    before = int(kept.load.max(initial=0))
    order = kept.thinned(cycle(dice))
    anew = Crowds(order, there, ways, net.beyond.size)
    assert (kept.load == anew.load).all() and int(anew.load.max(initial=0)) <= before
