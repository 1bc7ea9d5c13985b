"""``docs/checking.md`` is held to the program: its finding, its formats, its table of suppressions, the keys of the JSON."""

import json
import re
from pathlib import Path

from iacgen.cli.choices import FailOn, FindingFormat, Profile
from iacgen.diagnostics.text import render_text
from iacgen.explain import kinds
from iacgen.pipeline import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/checking.md").read_text(encoding="utf-8")


def rows(heading, columns):
    """The first words in code, or ids, of a table below a heading."""
    part = PAGE.partition(f"\n{heading}\n")[2].partition("\n#")[0]
    return re.findall("^" + r"\| ([^|]+?) " * columns, part, flags=re.MULTILINE)[1:]


def test_the_finding_is_a_real_one(lab):
    shown = re.search(r"^```text\n(error\[.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)[1]
    state = run(lab.replace("hgx-h100, count: 2}", "hgx-h100, count: 10000}"), "lab.yaml")
    assert render_text([f for f in state.findings if f.id == "IAC203"], state.document) + "\n" == shown


def test_the_comment_is_a_real_one(lab):
    line = re.search(r"^    (sequence: 16384  # iacgen: allow .*)$", PAGE, flags=re.MULTILINE)[1]
    state = run(lab.replace("sequence: 8192", line), "lab.yaml")
    assert [s.finding.slug for s in state.suppressed] == ["sequence-beyond-model"] and not state.findings


def test_every_format_is_described():
    table = [words for words in rows("## Formats", 1) if set(words) != {"-"}]
    assert [words.strip("`") for words in table] == [f.value for f in FindingFormat]
    assert all(f"`{f.value}`" in PAGE for f in FailOn)
    assert all(f"--profile {p.value}" in PAGE for p in Profile)


def test_every_finding_about_a_comment_is_described():
    table = {id: (slug, severity) for id, slug, severity in rows("## Allowing a finding in the file", 3) if id.startswith("IAC")}
    assert table == {k.id: (k.slug, *k.production) for k in kinds().values() if k.id.startswith("IAC65")}


def test_every_key_of_the_json_is_described():
    schema = json.loads((ROOT / "docs/findings.schema.json").read_text(encoding="utf-8"))
    part = PAGE.partition("\n### JSON\n")[2].partition("\n### ")[0]
    named = set(re.findall(r"`(\w+)`", part))
    assert {*schema["properties"], *schema["$defs"]["file"]["properties"], *schema["$defs"]["finding"]["properties"]} <= named
