"""Each variable that NCCL reads takes something, and what NCCL has by itself, or gets from iacgen, is among it."""

import re
from pathlib import Path

import pytest

from iacgen.checks.nccl_names import DEFAULTS, KNOWN
from iacgen.checks.nccl_values import FREE, NUMBERS, WORDS, wanted
from iacgen.pipeline import run, tree

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


def test_each_variable_is_of_one_kind():
    assert sorted([*FREE, *NUMBERS, *WORDS]) == sorted(KNOWN)


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_no_number_is_a_word_an_octal_or_a_fraction(name):
    for value in ("x", "064", "1.5", "1k", "0x", "--1", "9" * 20, "-3"):
        assert wanted(name, value), value


@pytest.mark.parametrize("name", sorted(WORDS))
def test_no_word_is_any_word(name):
    assert wanted(name, "nonsense") and wanted(name, "-7")


@pytest.mark.parametrize(("name", "value"), DEFAULTS.items())
def test_a_default_is_a_value(name, value):
    assert wanted(name, value) is None


@pytest.mark.parametrize("blueprint", ["lab", "superpod-h100", "aws-p5"])
def test_what_iacgen_writes_are_values(blueprint):
    files = tree(run((BLUEPRINTS / f"{blueprint}.yaml").read_text(), "x.yaml"))
    lines = [line for path, text in files.items() if path.endswith("nccl.conf") for line in text.splitlines()]
    pairs = [match.groups() for line in lines if (match := re.fullmatch(r"(NCCL_\w+)=(.*)", line))]
    assert pairs
    assert [pair for pair in pairs if wanted(*pair)] == []
