"""Process groups: against brute force, against figures seen in megatron-core, and against megatron-core itself."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, combinations
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.training.groups import dense, experts, grid
from iacgen.verify import programs
from iacgen.verify.process import run

ORDERS = ("tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp", "tp-dp-pp-cp-ep")
DENSE = ("tp", "cp", "dp", "pp")
sizes = st.fixed_dictionaries({name: st.integers(1, 4) for name in DENSE})
families = st.sampled_from([pick for n in (1, 2, 3) for pick in combinations(DENSE, n)])


def by_brute_force(order, size, wanted):
    """Ranks in groups, by peeling the digits off every rank."""
    found = {}
    for rank in range(prod(size.values())):
        rest, coordinate = rank, []
        for name in order.split("-"):
            rest, digit = divmod(rest, size.get(name, 1))
            coordinate.append(None if name in wanted else digit)
        found.setdefault(tuple(coordinate), []).append(rank)
    return sorted(found.values())


@given(size=sizes, wanted=families, order=st.sampled_from(ORDERS))
def test_groups_equal_brute_force(size, wanted, order):
    assert grid(order, **size).groups(*wanted).tolist() == by_brute_force(order, size, wanted)


@given(size=sizes, wanted=families, order=st.sampled_from(ORDERS), data=st.data())
def test_the_group_of_a_rank_is_the_row_that_holds_it(size, wanted, order, data):
    ranks = grid(order, **size)
    rank = data.draw(st.integers(0, ranks.world - 1))
    rows = ranks.groups(*wanted)
    assert ranks.group_of(rank, *wanted) == tuple(rows[np.argwhere(rows == rank)[0, 0]].tolist())


@pytest.mark.parametrize(
    ("families", "members"),
    [
        (("tp",), (0, 1)), (("cp",), (0, 2)), (("dp",), (0, 4, 8, 12)), (("pp",), (0, 16, 32, 48)),
        (("dp", "cp"), (0, 2, 4, 6, 8, 10, 12, 14)),
    ],
)  # fmt: skip
def test_64_ranks_as_megatron_core_groups_them(families, members):
    assert grid(tp=2, cp=2, dp=4, pp=4).group_of(0, *families) == members


def test_an_expert_group_spans_nodes_unless_its_tensor_size_is_one(pretrain):
    moe = replace(pretrain, nodes=128, tensor=8, context=2, expert=8, pipeline=8)
    assert experts(replace(moe, expert_tensor=8)).group_of(700, "ep") == tuple(range(644, 701, 8))
    assert experts(moe).group_of(700, "ep") == tuple(range(696, 704))


def test_every_rank_is_in_one_group_of_each_family(pretrain):
    ranks = dense(pretrain)
    assert ranks.world == pretrain.world == 1008
    for name in DENSE:
        assert sorted(chain.from_iterable(ranks.groups(name).tolist())) == list(range(1008))


@pytest.mark.parametrize("order", ["tp-cp-tp", "tp-xp", ""])
def test_an_order_of_other_words_is_refused(order):
    with pytest.raises(ValueError, match="order"):
        grid(order)


def test_a_size_without_a_place_in_the_order_is_refused():
    with pytest.raises(ValueError, match="no place for cp"):
        grid("tp-dp-pp", tp=2, cp=2)


def ask_megatron(question, *args):
    """The answer of one function of tests/training/ask_megatron.py, run by the Python that has megatron-core."""
    python = programs.find("megatron").path
    answer = run([python, Path(__file__).with_name("ask_megatron.py"), question, json.dumps(args)], timeout=300)
    assert answer.ok, answer.err
    return json.loads(answer.out.splitlines()[-1])


@pytest.mark.judge("megatron")
def test_megatron_core_generates_the_same_groups():
    rng = np.random.default_rng(1)
    shapes = [{name: int(rng.integers(1, 5)) for name in DENSE} for _ in range(200)]
    tokens = ("tp", "cp", "dp", "pp", "tp-pp", "dp-cp", "tp-cp", "tp-dp-cp")
    cases = [(order, shape, token) for i, shape in enumerate(shapes) for order in ORDERS[i % 3 : i % 3 + 1] for token in tokens]
    for (order, shape, token), theirs in zip(cases, ask_megatron("generated", cases), strict=True):
        assert grid(order, **shape).groups(*token.split("-")).tolist() == theirs, (order, shape, token)


@pytest.mark.judge("megatron")
def test_megatron_core_initialises_the_same_groups_at_1008_and_1024_ranks(pretrain):
    moe = replace(pretrain, nodes=128, context=2, expert=8, expert_tensor=8, pipeline=8)
    cases = [(spec, rank) for spec in (pretrain, moe) for rank in (0, 7, 700, spec.world - 1)]
    questions = [(rank, spec.world, spec.tensor, spec.pipeline, spec.context, spec.expert) for spec, rank in cases]
    for (spec, rank), theirs in zip(cases, ask_megatron("initialised", questions), strict=True):
        ours = {token: list(dense(spec).group_of(rank, *token.split("-"))) for token in ("tp", "pp", "cp", "dp", "dp-cp")}
        ours["ep"] = list(experts(spec).group_of(rank, "ep"))
        assert ours == theirs


# Megatron's name of a group → whose grid it is of, and the families that it goes over.
MADE = {
    "TENSOR_MODEL_PARALLEL_GROUP": (dense, ("tp",)),
    "PIPELINE_MODEL_PARALLEL_GROUP": (dense, ("pp",)),
    "CONTEXT_PARALLEL_GROUP": (dense, ("cp",)),
    "DATA_PARALLEL_GROUP": (dense, ("dp",)),
    "DATA_PARALLEL_GROUP_WITH_CP": (dense, ("dp", "cp")),
    "EXPERT_MODEL_PARALLEL_GROUP": (experts, ("ep",)),
    "EXPERT_TENSOR_PARALLEL_GROUP": (experts, ("tp",)),
    "EXPERT_DATA_PARALLEL_GROUP": (experts, ("dp",)),
}


def random_shapes(count):
    """Shapes with experts whose two grids both divide the world, of up to 256 ranks; then three of 1,024."""
    rng = np.random.default_rng(5)
    while count:
        tensor, pipeline, context, data, expert, expert_tensor = (int(rng.choice(sizes)) for sizes in ((1, 2, 4, 8), (1, 2, 3, 4), (1, 2, 3), (1, 2, 3, 4, 6, 8), (1, 2, 3, 4, 6, 8), (1, 2, 4)))
        world = tensor * pipeline * context * data
        if 1 < world <= 256 and world % (expert * expert_tensor * pipeline) == 0:
            count -= 1
            yield world, tensor, pipeline, context, expert, expert_tensor
    yield from ((1024, 8, 8, 2, 8, 1), (1024, 8, 8, 2, 8, 8), (1024, 4, 16, 1, 16, 1))


@pytest.mark.judge("megatron")
def test_megatron_core_makes_the_same_groups_for_200_shapes_and_1024_ranks(pretrain):
    shapes = list(random_shapes(200))
    assert sum(shape[4] > 1 for shape in shapes) > 100
    for shape, found in zip(shapes, ask_megatron("made", shapes), strict=True):
        world, tensor, pipeline, context, expert, expert_tensor = shape
        spec = replace(pretrain, nodes=world, gpus_per_node=1, tensor=tensor, pipeline=pipeline, context=context, expert=expert, expert_tensor=expert_tensor)
        for name, (of, families) in MADE.items():
            assert sorted(map(sorted, found[name])) == of(spec).groups(*families).tolist(), (shape, name)
