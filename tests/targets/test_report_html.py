"""report.html, read by an HTML parser: the words of report.md, every one as it was written, and nothing from outside."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen import pipeline
from iacgen.diagnostics import Diagnostic
from iacgen.drawings import drawings, inline
from iacgen.render import UnrepresentableValue
from iacgen.render.filters import html
from iacgen.targets import report
from iacgen.targets.report import pictures

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
NAMES = sorted(path.stem for path in BLUEPRINTS.glob("*.yaml"))
VOID = {"meta"}
LAB = {"kind": "Cluster", "schema": 1, "name": "x", "sites": {"h": {"kind": "on-prem"}}, "nodes": {"gpu": {"site": "h", "system": "hgx-h100", "count": 2}}, "fabrics": {"f": {"site": "h", "purpose": "compute", "connects": ["gpu"], "technology": "roce", "switch": "sn5600"}}}
JOB = {"model": "llama-3-8b", "nodes": "gpu", "sequence": 8192, "global_batch": 128, "gradients": "bf16", "recompute": "full", "framework": "deepspeed"}


class Page(HTMLParser):
    """Elements with their attributes, the words of each ``inside``, and whether every element is closed in its turn."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.words.append((tag, []))
            self.open.append(self.words[-1])

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            self.open[-1][1].append(data)

    def told(self, tag):
        return ["".join(parts) for name, parts in self.words if name == tag]


def project(name):
    return pipeline.run((BLUEPRINTS / f"{name}.yaml").read_text(), f"{name}.yaml").project


@pytest.mark.parametrize("name", NAMES)
def test_it_is_whole_and_asks_for_nothing(name):
    text = report.render(project(name))["report.html"]
    page = Page(text)
    assert page.open == [] and page.elements[0] == ("html", {"lang": "en"})
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "use", "image"}
    links = [value for _, attrs in page.elements for key, value in attrs.items() if key in ("href", "src", "xlink:href", "action", "srcset", "style")]
    assert links and not [link for link in links if re.match(r"[a-z]+:|//", link)]
    assert "url(" not in text and "@import" not in text
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids)) and {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in page.elements if tag == "th")
    assert page.told("style") and len(page.told("style")) == 1
    assert sum(tag == "table" for tag, _ in page.elements) == sum(tag == "caption" for tag, _ in page.elements)


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_the_markdown_says(name):
    """Each cell and fact of report.md stands in it: every value of the context that both are printed from."""
    these = project(name)
    page, found = Page(report.render(these)["report.html"]), report.words(these)
    said = {"".join(parts) for _, parts in page.words}
    tables = [found["minute"], found["nodes"], found["fabrics"], found["sites"], found["storage"], *(t for job in found["jobs"] for t in (job.step, job.ways, job.memory, job.orders, job.traffic))]
    assert {str(cell) for table in tables if table for row in (table.head, *table.rows) for cell in row} <= said
    facts = [*found["glance"], *found["purposes"], *found["growth"], *found["halls"], *(fact for job in found["jobs"] for fact in job.facts)]
    assert {word for fact in facts for word in fact} <= said
    assert {*found["assumptions"], *found["counted"]} <= said


def test_links_lead_to_files_of_the_tree():
    state = pipeline.run((BLUEPRINTS / "superpod-h100.yaml").read_text(), "x")
    files = pipeline.tree(state)
    links = {attrs["href"] for tag, attrs in Page(files["report.html"]).elements if tag == "a"}
    assert {link for link in links if link[0] != "#"} <= files.keys()
    assert {path for path in files if path.endswith(".svg")} <= links


def test_drawings_stand_inside_without_sheets_of_their_own():
    design = project("superpod-h100").design
    for drawing in drawings(design):
        whole, bare = (ElementTree.fromstring(text) for text in (drawing.text(design), inline(drawing.text(design))))
        kinds = [[element.tag.partition("}")[2] for element in root.iter()] for root in (whole, bare)]
        assert [kind for kind in kinds[0] if kind != "style"] == kinds[1]
        assert not [element for element in bare.iter() if "id" in element.attrib]


def test_a_page_is_bounded_and_says_what_it_left_out():
    design = project("superpod-h100").design
    all_of_them = pictures.figures(design)
    assert all(figure.svg for figure in all_of_them)
    few = pictures.figures(design, 100_000)
    assert 0 < sum(len(figure.svg.encode()) for figure in few if figure.svg) <= 100_000
    assert [figure.path for figure in few if figure.svg is None] == ["fabric/compute/fabric.svg"] + [f.path for f in few[1:] if f.svg is None]


def test_twelve_thousand_nodes_stay_a_page():
    blueprint = LAB | {"nodes": {"gpu": LAB["nodes"]["gpu"] | {"count": 12_288, "width": 5}}, "fabrics": {"f": LAB["fabrics"]["f"] | {"topology": "fat-tree"}}}
    state = pipeline.run(json.dumps(blueprint), "x.yaml", "lab")
    assert state.project, state.findings
    assert len(report.render(state.project)["report.html"].encode()) < 2_000_000


def test_what_was_found_and_left_is_named():
    left = (Diagnostic("IAC225", "does-not-fit", "warning", "words"), Diagnostic("IAC563", "grew", "info", "words"))
    files = report.render(replace(project("lab"), left=left))
    assert "IAC225 does-not-fit" in Page(files["report.html"]).told("td") and "| IAC225 does-not-fit |" in files["report.md"]
    assert "none" in Page(report.render(project("lab"))["report.html"]).told("td")


BAITS = ["<script>alert(1)</script>", "a & b &amp; c", "\"'><img src=x onerror=alert(1)>", "</title><script>", "]]>", "<!-- c", "&#60;b&#62;", "</style>", "{{ 7 * 7 }}", "a</h1>"]
lines = st.sampled_from(BAITS) | st.text("<>&\"'/!-=;#x1a ", min_size=1, max_size=40).map(str.strip).filter(bool)


@given(lines, lines, lines)
@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])
def test_hostile_words_are_words(cluster, pool, job):
    text = json.dumps(LAB | {"description": cluster, "nodes": {"gpu": LAB["nodes"]["gpu"] | {"description": pool}}, "training": {"t": JOB | {"description": job}}})
    state = pipeline.run(text, "x.yaml", "lab")
    assert state.project, state.findings
    page = Page(report.render(state.project)["report.html"])
    assert page.open == [] and cluster in page.told("p") and {pool, job} <= set(page.told("dd"))
    assert not {tag for tag, _ in page.elements} & {"script", "img", "b"}


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"])))
def test_the_filter_gives_back_what_it_was_given(text):
    page = Page(f"<p title=\"{html(text)}\">{html(text)}</p>")
    assert page.told("p") == [text] and page.elements == [("p", {"title": text})]


@pytest.mark.parametrize("text", ["\x00", "\x1b[2J", "\x85", "\ud800", "\ufffe", None, True, ["a"]])
def test_what_no_page_may_hold_is_refused(text):
    with pytest.raises(UnrepresentableValue):
        html(text)
