"""Whatever a file holds, each printer prints what was found in it, at places that the file has."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.diagnostics import concise, github, markdown, sarif, text
from iacgen.diagnostics import json as json_printer
from iacgen.diagnostics.report import gather
from iacgen.explain import kinds
from iacgen.pipeline import run

PIECES = [
    *("kind: Cluster", "schema: 1", "name: ", "sites: ", "nodes: ", "a", "b: 1", "\n", "\r\n", "  ", "\t", ": ", "- ", "[", "]", "{", "}", ", ", "'", '"', "|", "# ", "&x ", "*x", "<<: ", "!t ", "0x1f", "yes", "2020-01-01"),
    *("# iacgen: allow wrong-value -- why", " # iacgen: allow unknown-key", "# iacgen: nonsense", "::error::", "%0A", "`", "](x)", "@a", "\x1b", "\u202e", "\N{ELECTRIC PLUG}", "\x85", "\u2028"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=20).map("".join)


@given(TEXTS, st.sampled_from(["x.yaml", "::error::\x1b.yaml"]))
def test_every_printer_prints_every_finding(words, name):
    state = run(words, name)
    report = gather(state.findings, state.document, state.suppressed)
    data = json.loads(json_printer.render([report], "production"))
    results = json.loads(sarif.render([report], kinds(), "1.2.3"))["runs"][0]["results"]
    for out in (text.render(report), concise.render(report), github.render([report]), markdown.render([report])):
        assert all(c == "\n" or c.isprintable() or c == markdown._EMPTY for c in out), out
    assert len(data["findings"]) == len(results) == len(report.entries) == len(concise.render(report).splitlines()) == len(github.render([report]).splitlines())
    links = Counter(f"docs: iacgen explain {e.finding.id}" for e in report.entries)
    said = "\n".join(r["message"]["text"] for r in results)
    for out in (text.render(report), concise.render(report), github.render([report]), said):
        assert all(out.count(link) >= times for link, times in links.items()), out
    assert all(link in markdown.render([report]) for link in links)
    assert {f["link"] for f in data["findings"]} == {f"iacgen explain {f['id']}" for f in data["findings"]}
    rows = words.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for finding in data["findings"]:
        assert 1 <= finding["line"] <= len(rows) and 1 <= finding["column"] < finding["endColumn"], finding
        assert finding["column"] <= max(1, len(rows[finding["line"] - 1])), finding
    for result, finding in zip(results, data["findings"], strict=True):
        region = result["locations"][0]["physicalLocation"]["region"]
        before = rows[region["startLine"] - 1].encode("utf-16-le", "surrogatepass")[: 2 * (region["startColumn"] - 1)]
        assert before.decode("utf-16-le", "surrogatepass") == rows[finding["line"] - 1][: finding["column"] - 1]


LAB = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text(encoding="utf-8")
# What is wrong with the file → an edit, and the line and column of each finding.
WRONG = {
    "values": ([("count: 2}", "count: 010}"), ("technology: roce", "technology: rocee")], [(13, 50), (21, 17)]),
    "a colon": ([("    purpose: compute", "    purpose compute")], [(19, 5)]),
    "a bracket": ([("connects: [gpu]", "connects: [gpu")], [(20, 15)]),
    "a quote that a later line closes": ([("name: lab", 'name: "lab')], [(5, 7)]),
    "a comma at the end of a line": ([('"22.05", controllers', '"22.05"\n  controllers')], [(32, 3)]),
    "a form feed": ([("nodes:\n", "\fnodes:\n")], [(12, 1)]),
    "a line separator": ([("name: lab", "name: lab # \u2028x")], [(5, 13)]),
    "a next line in a comment": ([("name: lab", "name: lab # \x85x"), ("count: 2}", "count: 010}")], [(5, 13)]),
    "a character of two code units": ([("count: 2}", 'description: "\N{ELECTRIC PLUG}", count: 010}')], [(13, 68)]),
    "nesting": ([("name: lab", f"name: lab\nx: {'[' * 60}")], [(6, 54)]),
    "a comment": ([("count: 2}", "count: 2}  # iacgen: allow"), ("name: lab", "# iacgen: allow nothing\nname: lab")], [(5, 1), (14, 54)]),
    "a key twice, told with its first place": ([("    recompute: full", "    recompute: full\n    recompute: none")], [(42, 5)]),
}
ENDS = {"CRLF": ["\r\n"], "CR": ["\r"], "mixed": ["\n", "\r\n", "\r", "\r\n"]}


def printed(raw):
    state = run(raw, "x.yaml")
    report = gather(state.findings, state.document, state.suppressed)
    outs = [text.render(report), concise.render(report), github.render([report]), markdown.render([report]), json_printer.render([report], "lab"), sarif.render([report], kinds(), "1.2.3")]
    return [(e.place.line, e.place.column) for e in report.entries], outs


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
@pytest.mark.parametrize("ends", ENDS)
def test_no_printer_cares_how_lines_end(wrong, ends, mark):
    edits, places = WRONG[wrong]
    edited = LAB
    for old, new in edits:
        assert old in edited
        edited = edited.replace(old, new, 1)
    found, outs = printed(edited.encode())
    assert found == places
    rows = edited.split("\n")
    joined = "".join(row + ENDS[ends][i % len(ENDS[ends])] for i, row in enumerate(rows[:-1])) + rows[-1]
    assert printed(mark + joined.encode()) == (found, outs)
