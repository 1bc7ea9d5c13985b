"""The words over a picture."""

import pytest

from iacgen.drawings.sheet import MARGIN, Sheet, header

FIGURES = ("143 hosts", "6 leaf switches", "2 spine switches", "cables: 1,016 host + 4 manager + 1,024 switch to switch", "oversubscribed 3.00 : 1")


@pytest.mark.parametrize("right", range(MARGIN + 200, MARGIN + 1000, 10))
def test_a_short_figure_is_not_broken(right):
    """At any width, and no word is lost; a long one may be."""
    sheet = Sheet()
    header(sheet, "t", " · ".join(FIGURES), right)
    lines = [words.text for words in sheet.words if words.size == 12]
    assert " ".join(lines) == " · ".join(FIGURES)
    for figure in FIGURES[:3] + FIGURES[4:]:
        assert any(figure in line for line in lines), lines
