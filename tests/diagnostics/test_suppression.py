"""A comment allows what it names, where it stands, with a reason; the cases are data."""

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen.diagnostics import Diagnostic
from iacgen.diagnostics.kind import Kind
from iacgen.diagnostics.suppression import suppress
from iacgen.explain import kinds
from iacgen.pipeline import run
from iacgen.source import comments, read

CASES = yaml.safe_load((Path(__file__).parent / "suppressions.yaml").read_text(encoding="utf-8"))
# slug: id, severities in production, severities in a lab
SEVERITIES = {
    "wobbly": ("IAC900", {"warning"}, {"warning"}),
    "odd": ("IAC901", {"info"}, {"info"}),
    "broken": ("IAC902", {"error"}, {"error"}),
    "strict": ("IAC903", {"error"}, {"warning"}),
    "tidy": ("IAC904", {"warning"}, set()),
    "unwise": ("IAC905", {"error"}, {"error"}),
}
ABOUT = {k.slug: k for k in kinds().values() if k.id.startswith("IAC65")}
KINDS = {id: Kind(id, slug, frozenset(production), frozenset(lab), "", "", slug == "unwise") for slug, (id, production, lab) in SEVERITIES.items()} | {k.id: k for k in ABOUT.values()}


def finding(words, profile):
    """``wobbly a.b~`` as a finding: of that kind, at that path, on the key."""
    slug, path = words.split()
    id, production, lab = SEVERITIES[slug]
    (severity,) = lab if profile == "lab" else production
    steps = tuple(int(s) if s.isdecimal() else s for s in path.rstrip("~").split("."))
    return Diagnostic(id, slug, severity, words, steps, on_key=path.endswith("~"), allowable=slug == "unwise")


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["says"])
def test_case(case):
    text = case["text"].replace("\n", "\r\n") if case.get("crlf") else case["text"]
    document, faults = read(text, "x.yaml")
    if case.get("broken"):
        assert faults and not comments(text, "x.yaml")
        return
    assert not faults
    profile = case.get("profile", "production")
    findings = [finding(words, profile) for words in case["finds"]]
    out = suppress(findings, comments(text, "x.yaml"), document, KINDS, profile, case.get("complete", True))
    about = [f for f in out.findings if f.slug in ABOUT]
    assert [f.message for f in out.findings if f not in about] == case["keeps"]
    assert [s.finding.message for s in out.suppressed] == [words for words in case["finds"] if words not in case["keeps"]]
    assert [[f.slug, f.at.line, f.at.column] for f in about] == case.get("about", [])
    assert all((f.id, frozenset([f.severity])) == (ABOUT[f.slug].id, ABOUT[f.slug].production) for f in about)
    assert "help" not in case or about[0].help == case["help"]
    rows = text.split("\n")
    assert all(rows[f.at.line - 1][f.at.column - 1 :].startswith("#") for f in about)


def test_every_finding_about_a_comment_has_a_case():
    assert {slug for case in CASES for slug, _, _ in case.get("about", [])} == ABOUT.keys()


def edited(lab, comment=""):
    return lab.replace("sequence: 8192", f"sequence: 16384{comment}")


@pytest.fixture
def lab():
    return (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text(encoding="utf-8")


def test_a_warning_of_a_blueprint_is_set_aside_with_its_reason(lab):
    assert [f.slug for f in run(edited(lab), "x.yaml").findings] == ["sequence-beyond-model"]
    state = run(edited(lab, "  # iacgen: allow sequence-beyond-model -- rotary base raised"), "x.yaml")
    assert state.findings == () and state.project
    assert [(s.finding.slug, s.reason, s.at.line) for s in state.suppressed] == [("sequence-beyond-model", "rotary base raised", state.suppressed[0].at.line)]


def test_a_comment_without_reason_stops_the_run(lab):
    state = run(edited(lab, "  # iacgen: allow sequence-beyond-model"), "x.yaml")
    assert [f.slug for f in state.findings] == ["sequence-beyond-model", "suppression-without-reason"]
    assert state.project is None


def test_an_unused_comment_is_told_once_all_was_judged(lab):
    text = lab.replace("name: lab", "name: lab  # iacgen: allow IAC320 -- no more")
    assert [f.slug for f in run(text, "x.yaml").findings] == ["unused-suppression"]
    assert [f.slug for f in run(text.replace("zero: 3", "zero: 4"), "x.yaml").findings] == ["unknown-value"]


def test_an_error_of_a_blueprint_is_not_allowed(lab):
    state = run(lab.replace("count: 2}", "count: 10000}  # iacgen: allow count-above-width -- big"), "x.yaml")
    assert {"count-above-width", "allowed-error"} <= {f.slug for f in state.findings} and not state.suppressed


def test_a_comment_of_a_file_that_is_laid_over_counts_in_that_file():
    over = "training:\n  pretrain:\n    sequence: 16384  # iacgen: allow sequence-beyond-model -- rotary base raised\n"
    base = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text(encoding="utf-8")
    state = run(base, "lab.yaml", over=[(over, "long.yaml")])
    assert not state.findings and [s.at.name for s in state.suppressed] == ["long.yaml"]


PIECES = ["a: ", "b: ", "'", '"', "|", ">-", "\n", "\n  ", "- ", "{", "}", "[", "]", ", ", "x", " # ", "#", " # iacgen: allow wobbly -- why", "# iacgen: allow odd, wobbly -- why", "# iacgen: ", "\r\n", "&x ", "*x", "!!str ", "---\n", "\t"]


@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_no_comment_of_any_file_brings_it_down(text):
    document, _ = read(text, "x.yaml")
    spoken = comments(text, "x.yaml")
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert all(rows[c.at.line - 1][c.at.column - 1 : c.at.end - 1].startswith("#") and c.at.line <= c.covers <= len(rows) for c in spoken)
    here = [Diagnostic("IAC900", "wobbly", "warning", "x", path) for path in document.values]
    out = suppress(here, spoken, document, KINDS, "production", True)
    assert len(out.suppressed) + sum(f.slug == "wobbly" for f in out.findings) == len(here)


@given(st.text(st.sampled_from("# iacgen:'\"x\n")))
def test_what_a_loader_keeps_is_no_comment(text):
    """Whatever stands in a quoted scalar stays text: PyYAML reads it back whole, and no comment is seen."""
    quoted = f"a: '{text.replace(chr(39), chr(39) * 2)}'\n"
    yaml.safe_load(quoted)
    assert comments(quoted, "x.yaml") == ()


def test_many_comments_take_little_time():
    """Nothing here grows with the square of the file."""
    for text in ("#" * 250_000 + "\na: 1\n", "# allow IAC9 " * 20_000 + "\na: 1\n", "# iacgen: allow wobbly -- x\n" * 9_000 + "a: 1\n", "a: '" + "# " * 100_000 + "'  # iacgen: allow wobbly -- x\n", "# iacgen: allow woobly -- x\n" * 9_000 + "a: 1\n"):
        document, faults = read(text, "x.yaml")
        start = time.process_time()
        suppress([finding("wobbly a", "production")], comments(text, "x.yaml"), document, KINDS, "production", True)
        assert time.process_time() - start < 1 + 25e-6 * len(text), text[:30]


def test_what_was_never_made_counts_though_all_that_was_made_is_allowed():
    """A hundred allowed warnings do not hide the others of their kind: what stands for those is a warning, and nobody can allow it."""
    pools = "".join(f"  p{'abcdefghij'[i // 100]}{'abcdefghij'[i // 10 % 10]}{'abcdefghij'[i % 10]}: {{site: s, system: p5.48xlarge, count: 9}}{'  # iacgen: allow scarce-on-demand -- ours' if i < 100 else ''}\n" for i in range(150))
    text = f"kind: Cluster\nschema: 1\nname: x\nsites:\n  s: {{kind: aws, region: us-east-2, zone: us-east-2a}}\nnodes:\n{pools}"
    found = run(text, "x")
    (rest,) = [f for f in found.findings if f.id == "IAC109"]
    assert rest.severity == "warning" and len(found.suppressed) == 100
    assert "IAC652" in {f.id for f in run(text.replace("nodes:", "nodes: # iacgen: allow more-errors -- no", 1), "x").findings}


class TestLayers:
    """A comment in a file that is laid over another covers what that file says in the block below it, and no more."""

    BASE = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text(encoding="utf-8")
    ALLOW = "# iacgen: allow sequence-beyond-model -- rotary base raised\n"

    @pytest.mark.parametrize(
        "over",
        [
            f"training:\n  {ALLOW}  pretrain:\n    micro_batch: 1\n    sequence: 16384\n",
            f"{ALLOW}training:\n  pretrain:\n    micro_batch: 1\n    sequence: 16384\n",
            f"{ALLOW}training: {{pretrain: {{sequence: 16384}}}}\n",
        ],
        ids=["job", "section", "one line"],
    )
    def test_a_block_of_an_overlay_is_covered(self, over):
        state = run(self.BASE, "lab.yaml", over=[(over, "long.yaml")])
        assert not state.findings and [(s.finding.slug, s.at.name) for s in state.suppressed] == [("sequence-beyond-model", "long.yaml")]

    def test_also_below_another_overlay(self):
        over = f"training:\n  {self.ALLOW}  pretrain:\n    sequence: 16384\n"
        state = run(self.BASE, "lab.yaml", over=[(over, "long.yaml"), ("training:\n  pretrain:\n    micro_batch: 1\n", "last.yaml")], sets=["training.pretrain.zero=2"])
        assert not state.findings and [s.at.name for s in state.suppressed] == ["long.yaml"]

    def test_what_the_base_says_there_is_not(self):
        base = self.BASE.replace("sequence: 8192", "sequence: 16384")
        state = run(base, "lab.yaml", over=[(f"training:\n  {self.ALLOW}  pretrain:\n    micro_batch: 1\n", "long.yaml")])
        assert [f.slug for f in state.findings] == ["sequence-beyond-model", "unused-suppression"]

    def test_nor_what_comes_behind_the_block(self):
        over = f"training:\n  pretrain:\n    {self.ALLOW}    parallel:\n      tensor: 1\n    sequence: 16384\n"
        state = run(self.BASE, "lab.yaml", over=[(over, "long.yaml")])
        assert {f.slug for f in state.findings} == {"sequence-beyond-model", "unused-suppression"}

    def test_a_list_of_the_base_that_grows_is_covered(self):
        base = self.BASE.replace("count: 2}", "count: 3, down: [gpu0001]}").replace("  gpu: {site", "  gpu:\n    {site")
        document = run(base, "lab.yaml", over=[("nodes: {gpu: {down: [gpu0002]}}\n", "over.yaml")]).document
        (shadow,) = [span.name for path, span in document.shadowed if path[-1] == "down"]
        assert (shadow, document.keys["nodes", "gpu", "down"].name) == ("lab.yaml", "over.yaml")


@pytest.mark.parametrize(("comment", "sound"), [("", False), ("  # iacgen: allow harmful-nccl-value -- hosts hang in DMA until firmware 24.9", True)])
def test_an_error_that_can_be_allowed_stops_the_files_until_it_is(comment, sound):
    text = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text() + f"\nnccl:\n  reason: a fault\n  set:\n    NCCL_P2P_DISABLE: 1{comment}\n"
    state = run(text, "lab.yaml")
    assert (state.project is not None) is sound
    assert [f.slug for f in state.findings if f.severity == "error"] == ([] if sound else ["harmful-nccl-value"])
    assert [s.finding.slug for s in state.suppressed] == (["harmful-nccl-value"] if sound else [])
