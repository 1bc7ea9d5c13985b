"""Whatever a file holds, each printer prints what was found in it, at places that the file has."""

import json
from collections import Counter

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
