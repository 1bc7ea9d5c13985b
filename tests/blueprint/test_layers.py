"""What is laid over a blueprint: which value wins, where it stands, and what is refused."""

import json

import pytest

from iacgen.blueprint.language import merge_rule, named
from iacgen.blueprint.layers import assemble
from iacgen.pipeline import run

BASE = """\
kind: Cluster
schema: 1
name: x
sites:
  hall: {kind: on-prem, cooling: {kind: air, capacity: 100kW}}
nodes:
  gpu: {site: hall, system: hgx-h100, count: 2, down: [gpu0001]}
  ctl: {site: hall, system: generic-1u, count: 1}
fabrics:
  mgmt: {site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}
"""


def laid(*layers, sets=(), base=BASE):
    """Data and places; nothing may be wrong."""
    document, findings = assemble((base, "base.yaml"), [(text, f"{i}.yaml") for i, text in enumerate(layers, 1)], sets)
    assert not findings, findings
    return document


def wrong(*layers, sets=(), base=BASE):
    """(id, name of the text, line, the text at the place) of every error."""
    state = run(base, "base.yaml", "lab", [(text, f"{i}.yaml") for i, text in enumerate(layers, 1)], sets)
    found = []
    for f in state.findings:
        span = state.document.place(f)
        text = state.document.text_of(span).splitlines()[span.line - 1][span.column - 1 : span.end - 1]
        if f.severity == "error":
            found.append((f.id, span.name, span.line, text))
    return found


def origin(document, *path):
    span = document.span(path)
    return span.name, span.line


class TestMerging:
    def test_maps_merge_key_by_key_and_keep_their_order(self):
        document = laid("nodes:\n  gpu: {count: 4}\n  new: {site: hall, system: generic-1u, count: 1}\n")
        assert document.data["nodes"]["gpu"] == {"site": "hall", "system": "hgx-h100", "count": 4, "down": ["gpu0001"]}
        assert list(document.data["nodes"]) == ["gpu", "ctl", "new"]
        assert origin(document, "nodes", "gpu", "count") == ("1.yaml", 2)
        assert origin(document, "nodes", "gpu", "site") == ("base.yaml", 7)
        assert origin(document, "nodes", "new", "count") == ("1.yaml", 3)

    def test_the_last_layer_wins(self):
        document = laid("nodes: {gpu: {count: 4}}\n", "nodes: {gpu: {count: 8}}\n", sets=["nodes.gpu.count=16", "nodes.ctl.count=2"])
        assert document.data["nodes"]["gpu"]["count"] == 16
        assert origin(document, "nodes", "gpu", "count") == ("--set nodes.gpu.count=16", 1)
        assert origin(document, "nodes", "ctl", "count") == ("--set nodes.ctl.count=2", 1)

    def test_a_list_replaces(self):
        document = laid("fabrics:\n  mgmt:\n    connects:\n      - ctl\n")
        assert document.data["fabrics"]["mgmt"]["connects"] == ["ctl"]
        assert origin(document, "fabrics", "mgmt", "connects", 0) == ("1.yaml", 4)
        assert ("fabrics", "mgmt", "connects", 1) not in document.values

    def test_the_list_of_broken_hosts_is_appended_to(self):
        document = laid("nodes: {gpu: {down: [gpu0002]}}\n", sets=["nodes.gpu.down=[gpu0003, gpu0004]"])
        assert document.data["nodes"]["gpu"]["down"] == ["gpu0001", "gpu0002", "gpu0003", "gpu0004"]
        names = [document.span(("nodes", "gpu", "down", i)).name for i in range(4)]
        assert names == ["base.yaml", "1.yaml", "--set nodes.gpu.down=[gpu0003, gpu0004]", "--set nodes.gpu.down=[gpu0003, gpu0004]"]

    def test_null_takes_away(self):
        assert "cooling" not in laid("sites: {hall: {cooling: null}}\n").data["sites"]["hall"]
        assert "cooling" not in laid(sets=["sites.hall.cooling=null"]).data["sites"]["hall"]
        assert laid("nodes: {gpu: {down: null}}\n", "nodes: {gpu: {down: [gpu0002]}}\n").data["nodes"]["gpu"]["down"] == ["gpu0002"]
        assert list(laid("nodes: {ctl: ~}\n").data["nodes"]) == ["gpu"]

    def test_another_kind_replaces_the_whole_section(self):
        document = laid("sites: {hall: {kind: aws, region: us-east-2, zone: us-east-2a}}\n")
        assert document.data["sites"]["hall"] == {"kind": "aws", "region": "us-east-2", "zone": "us-east-2a"}
        assert ("sites", "hall", "cooling") not in document.values
        same = laid("sites: {hall: {kind: on-prem, domain: a.b}}\n")
        assert same.data["sites"]["hall"]["cooling"] == {"kind": "air", "capacity": "100kW"}

    def test_a_scalar_and_a_map_replace_each_other(self):
        assert laid("sites: {hall: {cooling: 5}}\n").data["sites"]["hall"]["cooling"] == 5
        assert laid("sites: {hall: {cooling: 5}}\n", "sites: {hall: {cooling: {kind: air}}}\n").data["sites"]["hall"]["cooling"] == {"kind": "air"}

    def test_an_alias_of_an_overlay_stays_in_its_file(self):
        document = laid("sites: {hall: {cooling: &c {kind: air, capacity: 5kW}}, room: {kind: on-prem, cooling: *c}}\n")
        assert origin(document, "sites", "room", "cooling", "capacity") == ("1.yaml", 1)
        assert document.routes[("sites", "room", "cooling")] == ("sites", "room", "cooling", "*")

    def test_nothing_over_it_changes_nothing(self):
        assert laid().data == laid("{}\n").data
        alone, under = laid(), laid("{}\n")
        assert alone.values == under.values and alone.keys == under.keys

    def test_what_is_empty_brings_nothing(self):
        assert wrong("# nothing\n") == [("IAC003", "1.yaml", 1, "#")]

    def test_the_rules(self):
        assert merge_rule(("nodes", "gpu", "down")) == "append"
        assert merge_rule(("fabrics", "mgmt", "connects")) == "replace"
        assert merge_rule(("no", "such", 0, "path")) == "replace"
        assert named(("nodes", "gpu")) and named(("scheduler", "partitions", "p"))
        assert not named(("nodes",)) and not named(("nodes", "gpu", "count")) and not named(())


class TestAssignments:
    @pytest.mark.parametrize(
        ("text", "value"),
        [("=5", 5), ("=five", "five"), ('="5"', "5"), ("=[a, b]", ["a", "b"]), ("={k: v}", {"k": "v"}), ("=''", ""), ("=a=b", "a=b"), ("= 7 ", 7), ("=true", True)],
    )
    def test_a_value_is_read_like_one_in_a_file(self, text, value):
        assert laid(sets=[f"sites.hall.domain{text}"]).data["sites"]["hall"]["domain"] == value

    def test_a_section_that_is_not_there_is_made(self):
        document = laid(sets=["fabrics.mgmt.qos.dscp=30"])
        assert document.data["fabrics"]["mgmt"]["qos"] == {"dscp": 30}

    def test_a_whole_pool_can_be_set(self):
        assert laid(sets=["nodes.cpu={site: hall, system: generic-1u, count: 1}"]).data["nodes"]["cpu"]["count"] == 1

    @pytest.mark.parametrize(
        ("text", "finds"),
        [
            ("nodes.gpu.count", [("IAC610", "nodes.gpu.count")]),
            ("=5", [("IAC610", "=5")]),
            ("nodes..count=5", [("IAC610", "nodes..count=5")]),
            ("nodes.gpu.count=", [("IAC610", "=")]),
            ("fabrics.mgmt.connects.0=ctl", [("IAC611", "0")]),
            ("nodes.gpuu.count=5", [("IAC613", "gpuu")]),
            ("nodes.gpu.cuont=5", [("IAC102", "cuont")]),
            ("nodes.gpu.count=05", [("IAC007", "05")]),
            ("nodes.gpu.count=five", [("IAC107", "five")]),
            ("nodes.gpu.count=[1", [("IAC002", "[")]),
            ("nodes.gpu=5", [("IAC107", "5")]),
            ("nodes.gpu.count.x=5", [("IAC107", "count")]),
            ("name=no", [("IAC011", "no")]),
            ("name=\u202e", [("IAC015", "\u202e")]),
            ("nodes.gpu.count=null", [("IAC103", "count")]),
            ("nodes.gpu.site=hal", [("IAC201", "hal")]),
        ],
    )
    def test_a_wrong_one_is_told_at_its_words(self, text, finds):
        assert wrong(sets=[text]) == [(id, f"--set {text}", 1, words) for id, words in finds]


class TestWrongLayers:
    def test_every_file_is_told_in_one_run(self):
        found = wrong("nodes:\n  gpu: {count: 04}\n", "nodes:\n\n  gpu: {cuont: 4}\n", sets=["nodes.ctl.count=x"])
        assert found == [("IAC007", "1.yaml", 2, "04"), ("IAC102", "2.yaml", 3, "cuont"), ("IAC107", "--set nodes.ctl.count=x", 1, "x")]

    def test_two_that_cannot_be_read(self):
        assert wrong("a: [\n", "b: {\n") == [("IAC002", "1.yaml", 1, "["), ("IAC002", "2.yaml", 1, "{")]

    def test_a_list_is_no_overlay(self):
        assert wrong("- a\n") == [("IAC612", "1.yaml", 1, "-")]

    def test_a_fault_below_an_overlay_is_still_a_fault(self):
        assert wrong("nodes: {gpu: {count: 4}}\n", base=BASE.replace("count: 2", "count: 02")) == [("IAC007", "base.yaml", 7, "02")]

    def test_a_key_that_was_taken_away_is_missed_where_it_was_taken(self):
        assert wrong("nodes:\n  gpu:\n    site: null\n") == [("IAC103", "1.yaml", 3, "site")]

    def test_null_for_a_key_that_nobody_has_is_a_misspelling(self):
        assert wrong("sites:\n  hall:\n    coolng: null\n") == [("IAC102", "1.yaml", 3, "coolng")]

    def test_a_duplicate_within_a_layer(self):
        assert wrong("nodes: {gpu: {count: 4, count: 5}}\n") == [("IAC006", "1.yaml", 1, "count")]

    def test_of_very_many_misspelt_names_the_first_are_told(self):
        pool = "  {}: {{site: hall, system: generic-1u, count: 1}}\n"
        base = BASE.replace("  ctl: {", "".join(pool.format(f"a{i}x") for i in range(150)) + "  ctl: {")
        layer = "nodes:\n" + "".join(f"  a{i}y: {{count: 2}}\n" for i in range(120))
        _, findings = assemble((base, "base.yaml"), [(layer, "1.yaml")])
        assert [f.id for f in findings] == ["IAC613"] * 100 + ["IAC109"]
        assert findings[0].help == "did you mean 'a0x'?" and findings[-1].at.line == 102

    def test_a_name_is_compared_with_others_only_where_it_may_be_misspelt(self, monkeypatch):
        """Comparing is dear: 1,200 whole pools over 1,200 others would be 1.4 million comparisons."""
        monkeypatch.setattr("iacgen.blueprint.layers.closest", lambda word, names: pytest.fail(f"{word} is whole"))
        pool = "  {}: {{site: hall, system: generic-1u, count: 1}}\n"
        assert len(laid("nodes:\n" + "".join(pool.format(f"b{i}x") for i in range(50))).data["nodes"]) == 52

    def test_comparisons_are_bounded(self, monkeypatch):
        asked = []
        monkeypatch.setattr("iacgen.blueprint.layers.closest", lambda word, names: asked.append(len(names)))
        pool = "  {}: {{site: hall, system: generic-1u, count: 1}}\n"
        base = BASE.replace("  ctl: {", "".join(pool.format(f"a{i}x") for i in range(998)) + "  ctl: {")
        assemble((base, "base.yaml"), [("nodes:\n" + "".join(f"  a{i}y: {{count: 2}}\n" for i in range(500)), "1.yaml")])
        assert asked == [1000] * 20

    def test_a_check_points_into_the_layer_that_broke_it(self):
        assert wrong("nodes:\n  gpu:\n    spares: 9\n")[0][:3] == ("IAC204", "1.yaml", 3)


def test_the_effective_blueprint_is_a_blueprint():
    """What ``resolve`` prints in JSON or YAML reads back; here the data itself does."""
    document = laid("nodes: {gpu: {count: 4}}\n")
    assert run(json.dumps(document.data), "x.yaml", "lab").blueprint == run(BASE, "x.yaml", "lab", [("nodes: {gpu: {count: 4}}\n", "1.yaml")]).blueprint
