"""report.html as Chromium shows it: on a phone and on a desk, light and dark, and it asks no network for anything."""

import json
import re
import sys
from html import escape, unescape
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import browser

OUT = Path(__file__).parents[2] / "out"
NAMES = sorted(path.parent.name for path in OUT.glob("*/report.html"))
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"]*">')
BACKGROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 21, 27)"}
FRAME = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>x</title></head><body><pre id="measured"></pre>
<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{page}"></iframe></body></html>"""
pytestmark = pytest.mark.judge("chromium")

# Contrast as WCAG 2.2 counts it (relative luminance, 1.4.3); of every element that has words of its own, against the nearest ground.
MEASURE = """<script>
const parts = c => c.match(/[0-9.]+/g).map(Number);
const light = c => { const [r, g, b] = parts(c).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
const ground = e => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return getComputedStyle(e).backgroundColor } return "rgb(255,255,255)" };
const poor = [];
let counted = 0;
for (const e of document.querySelectorAll("body *")) {
  if (e.closest("svg, script") || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
  const a = light(getComputedStyle(e).color), b = light(ground(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  counted += 1;
  if (ratio < 4.5) poor.push([e.tagName, e.textContent.slice(0, 40), ratio]);
}
const svgs = [...document.querySelectorAll("figure svg")];
const wordless = svgs.filter(s => light(getComputedStyle(s.querySelector("text")).fill) === light(getComputedStyle(s.querySelector(".page")).fill)).length;
parent.document.getElementById("measured").textContent = JSON.stringify({ width: innerWidth, needed: document.documentElement.scrollWidth, ground: getComputedStyle(document.body).backgroundColor,
  papers: [...new Set(svgs.map(s => getComputedStyle(s.querySelector(".page")).fill))], svgs: svgs.length, wordless, counted, poor });
</script>"""


def measured(page, tmp_path, width, scheme):
    """What a script finds in a copy of the page that lets it run, in a frame of this width: a window of Chromium's is never below 500 pixels."""
    text, allowed = POLICY.subn("", page)
    assert allowed == 1
    copy = tmp_path / "copy.html"
    inner = escape(text.replace("</body>", MEASURE + "</body>"))
    copy.write_text(FRAME.format(width=width, page=inner), encoding="utf-8")
    found = re.search(r'<pre id="measured">(.+?)</pre>', browser.show(copy, 1400, scheme).dom, flags=re.DOTALL)
    assert found, "the script did not run"
    return json.loads(unescape(found[1]))


@pytest.mark.parametrize("scheme", browser.SCHEMES)
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", NAMES)
def test_the_page_fits_and_can_be_read(tmp_path, name, width, scheme):
    page = (OUT / name / "report.html").read_text(encoding="utf-8")
    found = measured(page, tmp_path, width, scheme)
    assert found["width"] == width and found["needed"] <= width
    assert found["counted"] > 50 and found["poor"] == []
    assert found["ground"] == BACKGROUND[scheme]
    assert found["svgs"] == page.count("<figure>") and found["wordless"] == 0
    assert set(found["papers"]) <= {BACKGROUND[scheme]}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_asked_and_nothing_complained_of(name):
    page = OUT / name / "report.html"
    assert not re.search("google|gstatic|gvt1", page.read_text(encoding="utf-8"))  # so that what the browser asks of its maker is not the page's
    shown = browser.show(page, 390, "light")
    assert "Where it comes from" in shown.dom
    assert (shown.asked, shown.console) == ([], [])


def test_the_measures_would_see_a_bad_page(tmp_path):
    """The same measures on a page with pale words and a table too wide; and an image that the policy stops, and its lack does not."""
    page = (OUT / "lab" / "report.html").read_text(encoding="utf-8")
    bad = page.replace("<main>", '<main><p style="color: #999">pale</p><div style="width: 900px">wide</div>')
    found = measured(bad, tmp_path, 390, "light")
    assert [tag for tag, *_ in found["poor"]] == ["P"] and found["needed"] > 390
    asking = tmp_path / "asking.html"
    asking.write_text(page.replace("<main>", '<main><img alt="" src="http://127.0.0.2/x.png">'), encoding="utf-8")
    stopped = browser.show(asking, 390, "light")
    assert stopped.asked == [] and any("Content Security Policy" in line for line in stopped.console)
    asking.write_text(POLICY.sub("", asking.read_text(encoding="utf-8")), encoding="utf-8")
    assert browser.show(asking, 390, "light").asked[0].startswith("GET http://127.0.0.2/x.png")
