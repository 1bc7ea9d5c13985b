"""``iacgen explain`` and ``iacgen schema``: pages, the list, what is not there."""

import json
from pathlib import Path

import pytest

from iacgen.blueprint.schema import schema
from iacgen.explain import find, pages

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("word", ["IAC330", "iac330", "job-does-not-fit"])
def test_a_page_by_id_or_name(iacgen, word):
    done = iacgen("explain", word)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == find("IAC330").text()


def test_every_page_keeps_to_its_width(call):
    for page in pages():
        shown = call("explain", page.id).stdout
        assert shown.startswith(f"{page.id} {page.slug}: ")
        assert all(len(line) <= 100 for line in shown.splitlines() if not line.startswith("      ")), page.id


def test_without_a_name_it_lists_all(iacgen):
    done = iacgen("explain", env={"COLUMNS": "20"})
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [[p.id, p.slug] for p in pages()]
    assert [line.endswith(p.summary) for line, p in zip(done.stdout.splitlines(), pages(), strict=True)]


@pytest.mark.parametrize(("word", "near"), [("job-does-not-fitt", "did you mean job-does-not-fit?"), ("IAC555X", "did you mean IAC5"), ("qqqqqqqq", "iacgen explain lists all")])
def test_what_is_not_there_has_no_page(iacgen, word, near):
    done = iacgen("explain", word)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no finding {word!r}; {near}" in done.stderr


def test_as_json(call):
    page = find("IAC330")
    data = json.loads(call("explain", "IAC330", "--format", "json").stdout)
    assert (data["id"], data["slug"], data["severities"], data["summary"]) == (page.id, page.slug, ["error"], page.summary)
    assert [d["id"] for d in json.loads(call("explain", "--format", "json").stdout)] == [p.id for p in pages()]


def test_as_markdown(call):
    assert call("explain", "IAC330", "--format", "markdown").stdout == find("IAC330").markdown()
    rows = call("explain", "--format", "markdown").stdout.splitlines()
    assert rows[2:] == [p.row() for p in pages()]


def test_the_schema_is_printed_as_it_is_committed(iacgen):
    done = iacgen("schema")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == schema()
    assert done.stdout == (ROOT / "blueprints/blueprint.schema.json").read_text(encoding="utf-8")
