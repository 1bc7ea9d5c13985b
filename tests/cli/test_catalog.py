"""``iacgen catalog``: list, search, show, JSON."""

import json

import pytest

from iacgen import catalog

ALL = [entry for kind in catalog.KINDS for entry in catalog.entries(kind)]


def test_lists_everything_one_line_each(iacgen):
    done = iacgen("catalog", env={"COLUMNS": "20"})
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(maxsplit=2) for line in done.stdout.splitlines()] == [[e.kind, e.id, e.name] for e in ALL]


def test_searches_by_every_word(call):
    done = call("catalog", "NVIDIA", "switch")
    found = {line.split()[1] for line in done.stdout.splitlines()}
    assert done.exit_code == 0
    assert found == {e.id for e in ALL if e.kind == "switch" and e.vendor == "NVIDIA"}


def test_shows_one_entry_with_where_each_figure_is_from(call):
    done = call("catalog", "h100-sxm")
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert done.exit_code == 0
    assert ["tdp_w", "700"] in rows  # NVIDIA H100 data sheet, SXM form
    shown = " ".join(text for key, text in rows if key == "source")
    for source in catalog.gpu("h100-sxm").sources:
        assert source.where in shown and source.date in shown


def test_says_what_is_unknown_and_why(call):
    entry = next(e for e in ALL if e.unknown)
    done = call("catalog", entry.id)
    for figure, why in entry.unknown.items():
        assert f"{figure:<22} unknown: {why}" in done.stdout.splitlines()


def test_an_id_is_shown_even_where_it_is_part_of_others(call):
    assert "connectx-7-400g" in {e.id for e in ALL if "connectx-7-400g" in e.id} - {"connectx-7-400g-2p"}
    done = call("catalog", "connectx-7-400g")
    assert ["id", "connectx-7-400g"] in [line.split() for line in done.stdout.splitlines()]


def test_json_holds_what_the_files_hold(iacgen):
    done = iacgen("catalog", "--format", "json")
    assert done.returncode == 0
    shown = json.loads(done.stdout)
    assert [(e["kind"], e["id"]) for e in shown] == [(e.kind, e.id) for e in ALL]
    assert [catalog.KINDS[kind].model_validate(e) for kind, e in zip((k for k in catalog.KINDS for _ in catalog.ids(k)), shown, strict=True)] == ALL


def test_what_is_not_there_is_a_finding(iacgen):
    done = iacgen("catalog", "h100-sxn")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "the catalog has nothing on 'h100-sxn'; did you mean h100-sxm?\n"
    assert iacgen("catalog", "abacus").stderr == "the catalog has nothing on 'abacus'\n"


@pytest.mark.parametrize(("words", "ids"), [("switch infiniband", {"q3400-ra", "qm8700", "qm9700", "qm9790"}), ("aws h100", {"p5.48xlarge"}), ("system b300", {"dgx-b300"})])
def test_searches_by_what_a_thing_is_made_of(call, words, ids):
    done = call("catalog", *words.split(), "--format", "json")
    assert {e["id"] for e in json.loads(done.stdout)} == ids
