"""The Markdown of findings, read back with a Markdown reader: words stay words, whatever they are."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from iacgen.diagnostics import Related
from iacgen.diagnostics.markdown import LIMIT, cell, render
from iacgen.diagnostics.printable import printable

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
UNSEEN = "\N{ZERO WIDTH NON-JOINER}"


def rows(markdown):
    """The table's cells as a reader sees them: kinds of their tokens, and their words."""
    tokens = READER.parse(markdown)
    cells = [[t.children for t in tokens[i + 1 : i + 2]][0] for i, token in enumerate(tokens) if token.type == "td_open"]
    return [cells[i : i + 3] for i in range(0, len(cells), 3)]


def words_of(children):
    return "".join(t.content for t in children if t.type in ("text", "text_special")).replace(UNSEEN, "")


def test_a_table_with_the_worst_first(sample):
    text = render([sample.report(*sample.ALL[::-1]), sample.report(name="b.yaml", allowed=sample.ALL[1:2])])
    assert text.startswith("* **lab.yaml**: 1 error, 1 warning, 1 info\n* **b.yaml**: clean; 1 suppressed\n\n| | place | finding |\n")
    assert [words_of(row[0]) for row in rows(text)] == ["error", "warning", "info"]
    assert [words_of(row[1]) for row in rows(text)] == ["lab.yaml:3:17", "lab.yaml:4:27", "lab.yaml:5:3"]
    assert "**IAC999** thing-found: wrong<br>nodes.ctl.count: two here<br>nodes.gpu.width: four digits<br>write less<br>or more<br>docs: iacgen explain IAC999 |" in text


def test_clean_files_have_no_table(sample):
    assert render([sample.report()]) == "* **lab.yaml**: clean\n"


def check(sample, words):
    related = (Related(("nodes", words), words),)
    text = render([sample.report(sample.finding(("kind",), words, related=related), name=words)])
    ((severity, place, found),) = rows(text)
    assert words_of(severity) == "error"
    assert words_of(place) == f"{printable(words)}:1:7"
    assert words_of(found) == f"IAC999 thing-found: {printable(words)}nodes.{printable(words)}: {printable(words)}docs: iacgen explain IAC999"
    assert {t.type for t in found} <= {"text", "text_special", "strong_open", "strong_close", "html_inline"}
    assert [t.content for t in found if t.type == "html_inline"] == ["<br>"] * 2


def test_hostile_words_are_only_words(sample):
    for words in sample.HOSTILE:
        check(sample, words)


@given(words=st.text(max_size=80) | st.lists(st.sampled_from([*"\\`*_{}[]<>()#+-.!|~&$@:/=\n\t 1a", "&amp;", "<br>", "| |", "](", "www.", "http://"])).map("".join))
def test_no_text_at_all_is_markup(sample_once, words):
    words = words.strip() or "x"  # a reader of tables takes the blanks at a cell's ends away
    if len(printable(words)) == len(words.replace(UNSEEN, "")) and "://" not in words:  # a password in an address is printed as stars
        check(sample_once, words)


@pytest.mark.parametrize("words", ["@octocat", "a@b.example", "#12", "org/repo#12", "GH-12", "https://example.invalid", "www.example.invalid", "0123456789abcdef0123456789abcdef01234567"])
def test_what_github_would_link_is_broken(words):
    shown = re.sub(r"\\(.)", r"\1", cell(words))
    assert words not in shown
    assert shown.replace(UNSEEN, "") == words
    assert not re.search(r"@\w|#\d|://|www\.|GH-\d|[0-9a-f]{7}", shown, re.IGNORECASE)


def test_what_is_too_long_for_a_comment_is_counted(sample):
    findings = [sample.finding(("nodes", "gpu", f"key{i}"), f"{i} " + "x" * 1_000) for i in range(100)]
    text = render([sample.report(*findings, sample.finding(("kind",), "first", "info"))])
    assert len(text) <= LIMIT == 65_536
    shown = len(rows(text))
    assert 50 < shown < 100
    assert text.endswith(f"\n{101 - shown} more findings are not shown: the text would be too long.\n")
    assert len(render([sample.report(*findings)] * 3)) <= LIMIT


def test_many_clean_files_are_counted(sample):
    text = render([sample.report(name=f"{'x' * 50}{i}.yaml") for i in range(2_000)])
    assert text == "2,000 files\n"


def test_one_word_too_long_is_cut(sample):
    ((_, _, found),) = rows(render([sample.report(sample.finding(("kind",), "x" * 100_000))]))
    assert words_of(found).endswith("x…docs: iacgen explain IAC999")
