"""Workflow commands, read back as the runner reads them: nothing of a blueprint ends a command or begins another.

How the runner reads a line is told in its documentation: a command is ``::name key=value,key=value::data``, and ``%25``, ``%0D``,
``%0A`` (in values also ``%3A``, ``%2C``) stand for the characters themselves.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.diagnostics import Related
from iacgen.diagnostics.github import render
from iacgen.diagnostics.printable import printable_lines


def commands(output):
    """(name, properties, data) of each line, as the runner takes it apart."""
    out = []
    for line in output.split("\n"):
        assert line.startswith("::"), line
        head, _, data = line[2:].partition("::")
        name, _, properties = head.partition(" ")
        pairs = dict(pair.split("=", 1) for pair in properties.split(","))
        out.append((name, {k: back(v, {"%3A": ":", "%2C": ","}) for k, v in pairs.items()}, back(data)))
    return out


def back(text, more=()):
    for code, character in (dict(more) | {"%0D": "\r", "%0A": "\n"}).items():
        text = text.replace(code, character)
    return text.replace("%25", "%")


def test_each_finding_stands_beside_its_line(sample):
    error, warning, notice = commands(render([sample.report(*sample.ALL)]))
    assert error == (
        "error",
        {"file": "lab.yaml", "line": "3", "endLine": "3", "col": "17", "endColumn": "25", "title": "IAC999 thing-found"},
        "wrong\nnodes.ctl.count: two here\nnodes.gpu.width: four digits\nhelp: write less\nhelp: or more\ndocs: iacgen explain IAC999",
    )
    assert (warning[0], warning[1]["line"]) == ("warning", "4")
    assert (notice[0], notice[1]["line"], notice[1]["col"], notice[1]["endColumn"]) == ("notice", "5", "3", "7")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_the_line_ends_of_a_file_move_no_column(sample, newline):
    """Read from a file with tabs: a tab is one column, and the second half of a line end is none."""
    here = render([sample.report(*sample.ALL, text=sample.TEXT.replace("\n", newline))])
    assert here == render([sample.report(*sample.ALL)])
    line = sample.TEXT.split("\n")[2]
    (_, at, _), *_ = commands(here)
    assert line[int(at["col"]) - 1 : int(at["endColumn"]) - 1] == "dgx-h100"
    assert "\t" in line[: int(at["col"])]


def check(sample, words):
    related = (Related(("nodes", words), words),)
    ((name, properties, data),) = commands(render([sample.report(sample.finding(("kind",), words, related=related, help=words), name=words)]))
    assert name == "error"
    assert list(properties) == ["file", "line", "endLine", "col", "endColumn", "title"]
    assert data.split("\n")[: words.count("\n") + 1] == printable_lines(words)
    assert data.endswith("\ndocs: iacgen explain IAC999")


def test_hostile_words_end_no_command(sample):
    for words in sample.HOSTILE:
        check(sample, words)


@given(words=st.text() | st.lists(st.sampled_from(["::", "%", "%0A", "%25", "\n", "\r", ",", ":", "=", "a", " ", "##["])).map("".join))
def test_no_text_at_all_does(sample_once, words):
    check(sample_once, words)


def test_nothing_found_prints_nothing(sample):
    assert render([sample.report(), sample.report(allowed=sample.ALL)]) == ""
