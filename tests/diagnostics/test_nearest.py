"""Near is what a slip of the hand makes of a word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.diagnostics.nearest import closest, distance, near

WORDS = st.text(alphabet="abc", max_size=6)


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("gdx-h100", catalog.ids("systems"), "dgx-h100"),
        ("hxg-h100", catalog.ids("systems"), "hgx-h100"),
        ("dgx-h020", catalog.ids("systems"), "dgx-h200"),
        ("QM9700", catalog.ids("switches"), "qm9700"),
        ("Llama-3-70B", catalog.ids("models"), "llama-3-70b"),
        ("NCCL_IB_TIMEOUTS", ("NCCL_IB_TIMEOUT", "NCCL_IB_TC"), "NCCL_IB_TIMEOUT"),
        ("clt", ("ctl", "gpu"), "ctl"),
        ("control", ("ctl", "gpu"), "ctl"),
        ("zzz", ("ctl", "gpu"), None),
        ("", ("ctl",), None),
        ("x", (), None),
    ],
)
def test_what_was_meant(word, known, meant):
    assert closest(word, known) == meant


@pytest.mark.parametrize(("a", "b", "slips"), [("gdx", "dgx", 1), ("gdx", "hgx", 2), ("dgx", "dgx", 0), ("", "abc", 3), ("count", "cuont", 1), ("count", "coun", 1), ("count", "xcount", 1), ("count", "c0unt", 1)])
def test_each_slip_counts_once(a, b, slips):
    assert distance(a, b) == distance(b, a) == slips


@given(WORDS, WORDS)
def test_distance_is_none_for_the_same_word_only_and_at_most_the_longer_word(a, b):
    assert (distance(a, b) == 0) == (a == b)
    assert abs(len(a) - len(b)) <= distance(a, b) <= max(len(a), len(b))


@given(WORDS, st.integers(0, 5))
def test_neighbours_that_change_places_are_one_slip(word, at):
    swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
    assert distance(word, swapped) == (word != swapped)


def test_the_nearest_comes_first():
    found = near("gdx-h100", catalog.ids("systems"))
    assert found[:2] == ("dgx-h100", "hgx-h100")
    assert [distance("gdx-h100", id) for id in found] == sorted(distance("gdx-h100", id) for id in found)


def test_a_word_of_any_length_is_answered_at_once():
    assert closest("x" * 1_000_000, catalog.ids("systems")) is None
