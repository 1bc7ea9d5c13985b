"""The comment stays below its limit whatever is in it, and says what it left out."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.review import Change, Consequence, Effect, Review, Side
from iacgen.review.figures import Figure
from iacgen.review.files import files
from iacgen.review.markdown import render

WORDS = st.text(st.characters(codec="utf-8"), max_size=300)


def review(name, n, words="what becomes of it", lines=3):
    """A review of ``n`` changes, ``n`` figures and ``n`` files of ``lines`` lines."""
    old, new = ({f"fabric/f{i}/cables.csv": "".join(f"{word}{j} {words!r}\n" for j in range(lines)) for i in range(n)} for word in ("x", "y"))
    path = ("nodes", "gpu")
    told = tuple(Consequence(Effect(1 + i % 7), (*path, i), words, f"{i}", words, words) for i in range(n))
    figures = tuple(Figure(f"{words} {i}", "nodes", i, i + 1, str) for i in range(n))
    return Review(name, Side("old", tree=old), Side("new", tree=new), tuple(Change(path, "NodePool", "count", i, i + 1) for i in range(n)), told, figures, files=files(old, new))


def test_all_of_a_small_one_is_there():
    text = render([review("lab.yaml", 7)])
    assert text.startswith("## lab.yaml: destroys data\n") or text.startswith("## lab.yaml: re-cable\n")
    assert text.count("<details>") == 7 and "not shown" not in text


@settings(max_examples=60, deadline=None)
@given(st.integers(300, 70_000), st.integers(0, 60), st.integers(1, 5), WORDS, st.integers(0, 300))
def test_no_text_is_too_long(limit, n, many, words, lines):
    text = render([review(f"b{i}.yaml", n, words, lines) for i in range(many)], limit)
    assert len(text) <= limit
    assert text.count("<details>") == text.count("</details>") and text.count("````diff") <= text.count("<details>")


def test_what_is_cut_is_counted():
    whole = review("big.yaml", 3_000, "w" * 100, 40)
    text = render([whole])
    shown, hidden = len(re.findall(r"^\| \*{0,2}(?:reconfigure|restart|drain|replace|stop|re-cable|destroys)", text, re.MULTILINE)), [int(n.replace(",", "")) for n in re.findall(r"^([\d,]+) more not shown", text, re.MULTILINE)]
    assert len(text) <= 65_536 and shown + hidden[0] == 3_000
    assert "3,000 files differ" in text


def test_the_worst_is_first():
    text = render([review("mild.yaml", 1), review("bad.yaml", 7)])
    assert text.index("bad.yaml") < text.index("mild.yaml")
    rows = [line for line in text.splitlines() if line.startswith(("| **", "| re"))]
    assert "re-cable" in rows[1] or "destroys" in rows[0]


@given(WORDS)
def test_nothing_ends_a_row_or_a_fence(words):
    text = render([review("lab.yaml", 1, words)])
    table = text.partition("### What it does\n\n")[2].partition("\n\n")[0].splitlines()
    assert len(table) == 3 and len(re.findall(r"(?<!\\)\|", table[2])) == 6
