"""Every drawing is a plain SVG: well-formed, alone, legible in light and in dark."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.drawings import draw_fabric, draw_racks, draw_rail
from iacgen.drawings.picture import Box, Picture, Words, number, svg

ROOT = Path(__file__).parents[2]
CSS = (ROOT / "templates/drawings/style.css").read_text(encoding="utf-8")
LIGHT, DARK = CSS.split("@media (prefers-color-scheme: dark)")
GROUNDS = ("page", "frame", "inner", "host", "cell", "manager", "leaf", "spine", "core", "gpu", "rack")
HUES = tuple(f"hue{n}" for n in range(1, 9))


def drawn(designed):
    tree, fly = designed(count=40, manager="ufm", unit=8, tiers=3, pod=2), designed(count=72, topology="dragonfly", group={"hosts": 8, "leaves": 8, "links": 1})
    return [draw_fabric(tree.fabrics["compute"]), draw_rail(tree.fabrics["compute"]), draw_fabric(fly.fabrics["compute"]), draw_racks(tree, "hall")]


def colours(part, what):
    """Selector → colour of a property, of every simple rule."""
    found = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", part):
        if m := re.search(rf"(?:^|[\s;]){what}: (#[0-9a-f]{{6}})", body):
            found |= {selector.strip(): m[1] for selector in selectors.split(",")}
    return found


def contrast(one, two):
    """Contrast ratio of WCAG 2.1, success criterion 1.4.3."""

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_whatever_has_a_colour_by_day_has_one_by_night():
    for what in ("fill", "stroke"):
        assert colours(LIGHT, what).keys() == colours(DARK, what).keys() != set()
        assert all(colours(LIGHT, what)[name] != colours(DARK, what)[name] for name in colours(LIGHT, what))


@pytest.mark.parametrize("part", [LIGHT, DARK], ids=["light", "dark"])
def test_words_stand_out_from_every_ground(part):
    fills = colours(part, "fill")
    for ground in GROUNDS:
        for words in ("text", ".quiet"):
            assert contrast(fills[words], fills[f".{ground}"]) >= 4.5, (words, ground)


@pytest.mark.parametrize("part", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_and_edges_stand_out_from_the_page(part):
    fills, strokes = colours(part, "fill"), colours(part, "stroke")
    for name in (*(f".{hue}" for hue in HUES), ".way", ".to-manager", ".leaf", ".spine", ".core", ".gpu", ".manager"):
        assert contrast(strokes[name], fills[".page"]) >= 3, name


def test_every_class_that_is_drawn_has_a_style(designed):
    plain = {"link", "key", "start"}  # as a path, a box or a text is without a class
    for text in drawn(designed):
        used = {word for words in re.findall(r'class="([^"]+)"', text) for word in words.split()}
        styled = set(re.findall(r"\.([a-z][\w-]*)", CSS))
        groups = {"frames", "lines", "boxes", "words"}
        assert used - styled - groups <= plain


def test_a_drawing_stands_alone(designed):
    for text in drawn(designed):
        assert text.count("http") == 1 and 'xmlns="http://www.w3.org/2000/svg"' in text
        assert not re.search(r"<script|<image|<use|<foreignObject|<!|href|url\(|@import|\son\w+=", text)
        assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n') and text.endswith("</svg>\n")


def test_all_shapes_and_the_whole_have_a_title(designed, Read):
    for text in drawn(designed):
        read = Read(text)
        assert [child.tag.rpartition("}")[2] for child in read.root][:2] == ["title", "desc"]
        assert read.root[0].text and read.root[1].text
        assert all(len(titles) == 1 and titles[0] for titles in read.titles)


def test_what_is_drawn_can_be_any_text(Read):
    bait = "<b>&amp;\"' ]]> é –"
    read = Read(svg(Picture(100, 50, bait, bait, boxes=(Box(1, 2, 3, 4, "leaf", bait),), words=(Words(5, 20, bait, "quiet"),))))
    assert [read.root[0].text, read.root[1].text, read.rects[0].title, read.words[0].text] == [bait] * 4


@pytest.mark.parametrize("value, printed", [(1, "1"), (2.0, "2"), (2.04, "2"), (2.25, "2.2"), (0.1 + 0.2, "0.3"), (-0.04, "0"), (1e-9, "0")])
def test_numbers_are_printed_to_a_tenth(value, printed):
    assert str(number(value)) == printed


def test_another_hash_seed_changes_no_byte(designed):
    code = "from iacgen.cli import main; import sys; sys.argv = ['iacgen', 'draw', 'blueprints/superpod-h100.yaml']; main()"
    texts = [subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, timeout=120, check=True).stdout for seed in ("1", "2")]
    assert texts[0] == texts[1] and texts[0].startswith(b"<?xml")
