"""Orders on made-up fabrics: whatever the tree, the bound holds, every host is told once, and a failure moves nobody else."""

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iacgen import units
from iacgen.ordering import NoGround, Wish, data, faults, files, ordered, picture, sources, text
from iacgen.pipeline import run
from iacgen.placement.exact import Proof

SUPERPOD = Path(__file__).parents[2] / "blueprints/superpod-h100.yaml"


@pytest.fixture(scope="module")
def state():
    return run(SUPERPOD.read_bytes(), "x", judge=False, placed=False)


def tree(chance, hosts):
    """A topology.conf of leaves of any size over most of the hosts, and one to three tiers above them."""
    hosts = [*hosts[: len(hosts) - chance.randrange(4)], *(f"stranger{n}" for n in range(chance.randrange(3)))]
    if chance.random() < 0.5:
        chance.shuffle(hosts)
    cuts = sorted(chance.sample(range(1, len(hosts)), chance.randrange(1, 8)))
    names = [f"leaf{n}" for n in range(len(cuts) + 1)]
    lines = [f"SwitchName={name} Nodes={','.join(hosts[a:b])}" for name, a, b in zip(names, [0, *cuts], [*cuts, len(hosts)], strict=True)]
    for tier in ("pod", "zone"):
        width = chance.randrange(2, 5)
        groups = [names[at : at + width] for at in range(0, len(names), width)]
        names = [f"{tier}{n}" for n in range(len(groups))]
        lines += [f"SwitchName={name} Switches={','.join(below)}" for name, below in zip(names, groups, strict=True)]
    return "\n".join([*lines, f"SwitchName=top Switches={','.join(names)}", ""]).encode()


@pytest.mark.parametrize("seed", range(16))
def test_an_order_on_any_tree(state, seed):
    chance, design = random.Random(seed), state.design
    found, findings = sources([(tree(chance, list(design.pools["gpu"].hosts)), "t.conf")])
    assert len(found) == 1, findings
    job = {"finetune": state.jobs["finetune"]}
    wish = Wish(ratios={"leaf": chance.choice((1.0, 2.0, 7.0))} if chance.random() < 0.5 else {})
    (now,), findings = ordered(design, job, {"finetune": "gpu"}, found, wish)
    placement = now.placement
    assert not findings and placement.bound_s <= placement.cost_s * (1 + 1e-9) <= placement.sorted_cost_s * (1 + 2e-9)
    assert sorted([*placement.hosts, *(idle.host for idle in placement.idle)]) == list(design.pools["gpu"].hosts)
    assert set(now.missing) == {idle.host for idle in placement.idle if idle.why == "place unknown"}
    assert {*now.ground.strangers, *design.pools["gpu"].hosts} - set(now.missing) == set(found[0].hierarchy.hosts)

    down = tuple(chance.sample(placement.hosts, 2))
    (after,), findings = ordered(design, job, {"finetune": "gpu"}, found, Wish(down, ratios=wish.ratios))
    assert not findings and {a for a, b in zip(placement.hosts, after.placement.hosts, strict=True) if a != b} == set(down)
    assert not set(down) & set(after.placement.hosts) and {move.out for move in after.change.after.moves} == set(down)

    for order in (now, after):
        assert max(map(len, text([order]))) <= 100
        json.dumps(data("x", [order]), allow_nan=False)
        assert list(faults(design, [order], files(design, [order]))) == []
        assert picture(design, order).endswith("</svg>\n")


def test_parts_that_nothing_joins_are_fabrics_to_choose_from(state):
    found, _ = sources([(b"SwitchName=a Nodes=gpu[0001-0063]\nSwitchName=b Nodes=gpu[0064-0127]\n", "t.conf")])
    job = {"finetune": state.jobs["finetune"]}
    with pytest.raises(NoGround, match="several fabrics join the hosts of pool gpu: b .64 of its hosts., a .63 of its hosts."):
        ordered(state.design, job, {"finetune": "gpu"}, found)
    (one,), _ = ordered(state.design, job, {"finetune": "gpu"}, found, Wish(fabric="a"))
    assert set(one.placement.hosts) <= {f"gpu{n:04d}" for n in range(1, 64)} and len(one.missing) == 64


def test_a_job_that_the_fabric_is_too_small_for_is_a_finding(state):
    found, _ = sources([(b"SwitchName=a Nodes=gpu[0001-0020]\n", "t.conf")])
    orders, findings = ordered(state.design, {"finetune": state.jobs["finetune"]}, {"finetune": "gpu"}, found)
    assert orders == [] and [f.slug for f in findings] == ["too-few-hosts"]
    assert "107 without a place on the fabric that was found" in findings[0].message


def test_words_of_a_solver_that_counting_beats(state):
    """Its bound may be nothing at all where its limit came first: 0 ms would read as a bound."""
    (ordering,), _ = ordered(state.design, {"pretrain": state.jobs["pretrain"]}, {"pretrain": "gpu"})
    order, cost = np.arange(126), ordering.placement.cost_s
    none, half = (" ".join(" ".join(text([replace(ordering, proof=Proof(order, cost, bound_s, False))])).split()) for bound_s in (0.0, cost / 2))
    assert "solver found no bound of its own within its limit: the one above stands" in none and "0 ms" not in none.partition("solver found")[2][:80]
    assert f"solver within its limit it bounds the cost at {units.seconds(cost / 2)}, less than the bound above, which stands" in half
