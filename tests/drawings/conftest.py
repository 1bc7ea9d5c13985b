"""Clusters to draw, and drawings read back as shapes."""

import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from iacgen.blueprint import parse
from iacgen.design import design

SVG = "{http://www.w3.org/2000/svg}"
GLYPH = {"mono": 0.602, "sans": 0.62}  # DejaVu Sans Mono; DejaVu Sans on the average of text: the widest faces that the style names


def designed(count=8, manager="", system="dgx-h100", grow_to=None, site=None, **fabric):
    """The design of so many GPU machines on one compute fabric; None where that cannot be."""
    fabric = {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "topology": "rail-fat-tree", "switch": "qm9700"} | fabric
    if manager:
        fabric["manager"] = {"kind": manager, "pool": "ufm"}
    gpu = {"site": "hall", "system": system, "count": count, "width": 5} | ({"grow_to": grow_to} if grow_to else {})
    data = {
        "kind": "Cluster", "schema": 1, "name": "t", "sites": {"hall": {"kind": "on-prem"} | (site or {})},
        "nodes": {"gpu": gpu, "ufm": {"site": "hall", "system": "generic-1u", "count": 2}}, "fabrics": {"compute": fabric},
    }  # fmt: skip
    parsed, findings = parse(data)
    assert parsed, findings
    return design(parsed)[0]


@pytest.fixture(name="designed", scope="session")
def designed_fixture():
    return designed


class Read:
    """A drawing as its reader has it: shapes with their class, title and place; texts with their ends."""

    def __init__(self, text):
        self.text = text
        self.root = ElementTree.fromstring(text.encode())
        self.width, self.height = map(float, self.root.attrib["viewBox"].split()[2:])
        found = [e for e in self.root.iter() if e.tag in (f"{SVG}rect", f"{SVG}path", f"{SVG}circle")]
        self.titles = [[child.text for child in e if child.tag == f"{SVG}title"] for e in found]
        self.rects = [self._rect(e) for e in found if e.tag == f"{SVG}rect" and e.attrib["class"] != "page"]
        self.discs = [self._disc(e) for e in found if e.tag == f"{SVG}circle"]
        self.lines = [SimpleNamespace(title=e[0].text, kind=e.attrib["class"].split(), d=e.attrib["d"]) for e in found if e.tag == f"{SVG}path"]
        self.words = [self._words(e) for e in self.root.iter(f"{SVG}text")]

    def of(self, kind):
        """The boxes of a kind, without those of the legend."""
        return [r for r in self.rects if kind in r.kind and "key" not in r.kind]

    def counted(self, kind, noun):
        """The sum of the numbers before a noun in the titles of boxes of a kind."""
        return sum(int(m[1].replace(",", "")) for r in self.of(kind) if (m := re.search(rf"([\d,]+) {noun}", r.title)))

    def links(self):
        """The sum of the links that the titles of lines, and of boxes with links inside, tell."""
        told = [line.title for line in self.lines] + [r.title for r in self.rects]
        return sum(int(m[1].replace(",", "")) for title in told if (m := re.search(r"([\d,]+) links?(?: of|,| among)", title)))

    @staticmethod
    def _rect(e):
        x, y, w, h = (float(e.attrib[k]) for k in ("x", "y", "width", "height"))
        return SimpleNamespace(x=x, y=y, right=x + w, bottom=y + h, kind=e.attrib["class"].split(), title=e[0].text)

    @staticmethod
    def _disc(e):
        x, y, r = (float(e.attrib[k]) for k in ("cx", "cy", "r"))
        return SimpleNamespace(cx=x, cy=y, r=r, kind=e.attrib["class"].split(), title=e[0].text)

    @staticmethod
    def _words(e):
        kinds = e.attrib["class"].split()
        size, x, y = (float(e.attrib[k]) for k in ("font-size", "x", "y"))
        width = len(e.text) * size * GLYPH["mono" if "mono" in kinds else "sans"] * (1.1 if "strong" in kinds else 1)
        left = x - {"start": 0, "middle": width / 2, "end": width}[next(k for k in kinds if k in ("start", "middle", "end"))]
        return SimpleNamespace(text=e.text, left=left, right=left + width, x=x, top=y - size, y=y, kind=kinds)


@pytest.fixture(name="Read", scope="session")
def read_fixture():
    return Read


def sound(read):
    """Nothing lies outside the picture, no box on another of its kind, no word beside the box it belongs to; all shapes have one title."""
    assert all(len(t) == 1 and t[0] for t in read.titles)
    inside = [*read.rects, *(SimpleNamespace(x=d.cx - d.r, y=d.cy - d.r, right=d.cx + d.r, bottom=d.cy + d.r, title=d.title) for d in read.discs)]
    for shape in inside:
        assert 0 <= shape.x < shape.right <= read.width and 0 <= shape.y < shape.bottom <= read.height, shape
    for words in read.words:
        assert 0 <= words.left and words.right <= read.width + 0.5 and 0 <= words.top and words.y <= read.height, words
    for kind in ("leaf", "spine", "core", "host", "manager", "cell", "gpu", "frame", "inner", "rack", "gauge", "key"):
        mine = sorted((r for r in read.rects if kind in r.kind and (kind == "key" or "key" not in r.kind)), key=lambda r: r.x)
        for i, one in enumerate(mine):
            for two in mine[i + 1 :]:
                if two.x >= one.right:
                    break
                assert two.y >= one.bottom - 0.2 or two.bottom <= one.y + 0.2 or two.x >= one.right - 0.2, (kind, one, two)
    for one, two in ((a, b) for i, a in enumerate(read.discs) for b in read.discs[i + 1 :]):
        assert (one.cx - two.cx) ** 2 + (one.cy - two.cy) ** 2 >= (one.r + two.r) ** 2, (one, two)
    for words in read.words:
        for r in read.rects:
            if {"leaf", "spine", "core", "host", "manager", "cell"} & set(r.kind) and "key" not in r.kind and "tag" not in words.kind and r.x < words.x < r.right and r.y < words.y < r.bottom:
                assert r.x <= words.left + 0.5 and words.right <= r.right + 0.5, (words, r)


@pytest.fixture(name="sound", scope="session")
def sound_fixture():
    return sound
