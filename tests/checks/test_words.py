"""Sentences that are put together from what is built say what is built."""

from pathlib import Path

import pytest

from iacgen.explain import find
from iacgen.pipeline import run

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


def edited(name, old, new):
    text = (BLUEPRINTS / f"{name}.yaml").read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)


def said(text, id):
    (finding,) = (f for f in run(text, "x.yaml").findings if f.id == id)
    return finding.message


def test_one_switch_has_no_uplinks():
    text = edited("lab", "purpose: compute\n", "purpose: compute\n    oversubscription: 3\n")
    assert said(text, "IAC523") == "oversubscription 3 is asked for, but one switch carries all ports, so that there are no uplinks to save"


def test_uplinks_that_are_shared_out_are_told_as_a_figure():
    """32 ports down want 2.7 up at 12 to 1: three are laid, and 32 / 3 is 11."""
    text = edited("superpod-h100", "unit: 32 ", "oversubscription: 12.0\n    unit: 32 ")
    built = run(text, "x.yaml").design.fabrics["compute"].oversubscription
    assert built == 32 / 3
    assert said(text, "IAC523") == f"oversubscription 12 is asked for, but the fabric is built with {built:.2g}"


@pytest.mark.parametrize("text", ["a: [" + "1," * 20_001 + "]", "a: &a [*a]", "a: &a [" + "1," * 2_000 + "]\nb: [" + "*a ," * 100 + "]"], ids=["written out", "itself", "unfolded"])
def test_the_page_on_too_many_values_tells_of_each_way_to_them(text, request):
    assert {f.id for f in run(text, "x.yaml").findings} == {"IAC004"}
    assert request.node.callspec.id in find("IAC004").summary
