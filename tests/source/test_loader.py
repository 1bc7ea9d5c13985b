"""The loader reads plain data with positions, and refuses what YAML readers disagree on, what does not show and what could grow."""

import json
import re
import time
import tracemalloc
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from iacgen.diagnostics import lines
from iacgen.source import read

CASES = yaml.safe_load((Path(__file__).parent / "refused.yaml").read_text(encoding="utf-8"))


def found(text):
    """(id, line, column) of each finding."""
    document, findings = read(text, "x.yaml")
    return [[f.id, document.place(f).line, document.place(f).column] for f in findings]


def inside(document, findings):
    """Every place lies in the text."""
    rows = lines(document.text)
    rows = rows if rows[-1] else rows[:-1] or [""]
    for finding in findings:
        span = document.place(finding)
        assert 1 <= span.line <= len(rows) and 1 <= span.column <= max(1, len(rows[span.line - 1])) and span.column < span.end <= max(1, len(rows[span.line - 1])) + 1


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["says"])
def test_refuses(case):
    assert found(case["text"]) == case["finds"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["says"])
def test_a_place_lies_in_the_file(case):
    document, findings = read(case["text"], "x.yaml")
    inside(document, findings)
    assert {document.place(f).name for f in findings} == {"x.yaml"}


def test_reads_plain_values():
    document, findings = read('a: text\nb: [1, 2.5, true, null, -3, 5e-5, 1e3, TRUE, ~]\nc: "no"\ne: "1:30"\nf:\n', "x.yaml")
    assert not findings
    assert document.data == {"a": "text", "b": [1, 2.5, True, None, -3, 5e-5, 1000.0, True, None], "c": "no", "e": "1:30", "f": None}


def test_knows_where_things_stand():
    document, _ = read("a:\n  b: [x, yy]\n", "x.yaml")
    span = document.span(("a", "b", 1))
    assert (span.line, span.column, span.end) == (2, 10, 12)
    assert document.span(("a", "missing")) == document.span(("a",), on_key=True)


def test_what_is_empty_stands_at_its_key():
    document, _ = read("a:\n  bc:\n", "x.yaml")
    assert document.span(("a", "bc")) == document.span(("a", "bc"), on_key=True)


def test_the_rest_is_read_beside_a_fault():
    document, findings = read("a: 010\nb: {c: no, d: 1, d: 2}\n", "x.yaml")
    assert [f.id for f in findings] == ["IAC007", "IAC011", "IAC006"]
    assert document.data == {"a": None, "b": {"c": None, "d": 1}}
    assert document.unread == {("a",), ("b", "c"), ("b", "d")}


class TestMerges:
    TEXT = "base: &base\n  site: hall\n  count: 2\nextra: &extra {spares: 1}\npool:\n  <<: [*base, *extra]\n  count: 3\nuse: *base\n"

    def test_own_keys_win_wherever_they_stand(self):
        document, findings = read(self.TEXT, "x.yaml")
        assert not findings
        assert document.data["pool"] == {"count": 3, "site": "hall", "spares": 1}
        assert read("x: &x {a: 1, b: 2}\nv: {a: 3, <<: *x}\n", "x.yaml")[0].data["v"] == {"a": 3, "b": 2}

    def test_a_merge_of_a_merge(self):
        document, findings = read("x: &x {a: 1, b: 1}\nv: &v {<<: *x, b: 2}\nz: {<<: *v, c: 3}\n", "x.yaml")
        assert not findings
        assert document.data["z"] == {"a": 1, "b": 2, "c": 3}

    def test_a_value_stands_where_it_was_written_and_its_way_is_known(self):
        document, _ = read(self.TEXT, "x.yaml")
        assert document.span(("pool", "site")).line == 2
        assert document.span(("pool", "count")).line == 7
        assert document.routes[("pool", "site")] == ("pool", "<<")
        assert ("pool", "count") not in document.routes
        assert document.span(("pool", "<<"), on_key=True).line == 6
        assert document.span(("use", "site")).line == 2
        assert document.span(document.routes[("use",)]).line == 8

    def test_an_own_key_settles_a_clash(self):
        document, findings = read("x: &x {a: 1}\nv: &v {a: 2}\nz: {<<: [*x, *v], a: 3}\n", "x.yaml")
        assert not findings
        assert document.data["z"] == {"a": 3}

    def test_a_quoted_sign_is_a_key(self):
        assert read('"<<": {a: 1}\n', "x.yaml")[0].data == {"<<": {"a": 1}}

    def test_another_reader_agrees(self):
        assert read(self.TEXT, "x.yaml")[0].data == yaml.safe_load(self.TEXT)


class TestBounds:
    BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    MERGES = "a0: &a0 {" + ", ".join(f"k{i}: 1" for i in range(900)) + "}\n" + "".join(f"b{i}: {{<<: *a0}}\n" for i in range(900))
    CHAIN = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 12))

    def test_an_alias_bomb_is_cut_off(self):
        assert [f[0] for f in found(self.BOMB)] == ["IAC004"]

    def test_a_merge_bomb_is_cut_off(self):
        assert [f[0] for f in found(self.MERGES)] == ["IAC004"]
        assert "IAC004" in {f[0] for f in found(self.CHAIN)} or len(found(self.CHAIN)) < 200

    def test_a_large_file_is_not_parsed(self):
        assert found("#" * 262_145) == [["IAC001", 1, 1]]
        assert found(b"\xff" * 262_145) == [["IAC001", 1, 1]]
        assert found("a: 1\n" + "#" * 262_139) == []

    def test_many_values(self):
        assert [f[0] for f in found("a: [" + "1," * 10_001 + "]")] == ["IAC004"]
        assert found("a: [" + "1," * 9_900 + "]") == []

    @pytest.mark.parametrize("text", ["a: " + "[" * 51 + "]" * 51, "- " * 51 + "a", "".join(f"{' ' * i}a:\n" for i in range(51)) + " " * 51 + "b: 1\n", "{a: " * 51 + "1" + "}" * 51, "[" * 100_000, "? " * 100_000, "- " * 100_000, "".join(f"{'  ' * (i // 2)}{'a:' if i % 2 == 0 else '- '}\n" for i in range(104))], ids=range(8))
    def test_nesting_above_fifty(self, text):
        assert [f[0] for f in found(text)] == ["IAC013"]

    @pytest.mark.parametrize("text", ["[" * 50 + "]" * 50, "- " * 50 + "a", "".join(f"{' ' * i}a:\n" for i in range(49)) + " " * 49 + "b: 1\n", 'a: "' + "[" * 60 + '"', "# " + "[" * 60 + "\na: 1"], ids=range(5))
    def test_nesting_of_fifty_is_read(self, text):
        assert found(text) == []

    @pytest.mark.parametrize("text", ["[" * 262_000, "- " * 131_000, "{a: " * 65_000, "".join(f"{' ' * i}a:\n" for i in range(700)), '"\\' * 130_000, "'" * 261_999, "a: '" + "\n" * 261_000 + "[" * 60, "x" * 300_000, "\0" * 262_000, "a: " + "\u202e" * 80_000], ids=range(10))
    def test_what_is_refused_before_parsing_takes_no_second(self, text):
        start = time.process_time()
        assert found(text)
        assert time.process_time() - start < 1

    def test_hidden_characters_are_told_one_by_one_up_to_twenty(self):
        assert len(found("\0" * 1000)) == 20


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    def test_wide_encodings(self, encoding):
        codes = {f[0] for f in found("name: lab\n".encode(encoding))}
        assert codes <= {"IAC014", "IAC015"} and codes

    def test_bytes_that_are_no_text(self):
        assert found("a: 1\nname: café\n".encode("latin-1")) == [["IAC014", 2, 10]]
        assert found(b"\xff") == [["IAC014", 1, 1]]
        assert found(b"a: \xed\xa0\x80\n") == [["IAC014", 1, 4]]

    def test_a_byte_order_mark_is_no_part_of_the_text(self):
        document, findings = read(b"\xef\xbb\xbfa: 010\n", "x.yaml")
        assert [document.place(f).column for f in findings] == [4]

    def test_text_beyond_ascii_is_welcome(self):
        document, findings = read("a: Zürich 日本 😀\n".encode(), "x.yaml")
        assert not findings and document.data == {"a": "Zürich 日本 😀"}


@given(st.text(st.characters(codec="utf-8"), max_size=200) | st.text("ab:-[]{}&*<|>!%@#'\"\\ \n\t,?~0x1e", max_size=60))
def test_no_text_makes_it_crash(text):
    inside(*read(text, "x.yaml"))


@given(st.binary(max_size=60))
def test_no_bytes_make_it_crash(raw):
    inside(*read(raw, "x.yaml"))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), max_size=12).filter(lambda t: not set(t) & {"\ufffe", "\uffff"}),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz0-", min_size=1, max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_reads_json_as_json_does(data):
    """JSON is the part of YAML that nobody disagrees on."""
    document, findings = read(json.dumps({"k": data}), "x.yaml")
    assert not findings and document.data == {"k": data}


@given(plain)
def test_reads_what_another_reader_reads(data):
    """What the loader takes, a reader of YAML 1.1 takes for the same; but for 1e3, a number here and text there."""
    text = yaml.safe_dump({"k": data}, allow_unicode=True)
    document, findings = read(text, "x.yaml")
    assume(not re.search(r"[0-9][eE][-+]?[0-9]", text))
    assert findings or document.data == yaml.safe_load(text)


WORDS = st.text("0123456789+-._:eExobnoyfNOYFatrueTRUE~=<", min_size=1, max_size=9)


@given(WORDS)
def test_a_bare_word_means_the_same_to_both_versions_or_is_refused(word):
    document, findings = read(f"k: {word}\n", "x.yaml")
    if findings:
        return
    ours = document.data["k"]
    if isinstance(ours, float):  # YAML 1.1 wants a point and a sign in 5e-5, and reads text without: the one difference allowed
        assert float(word) == ours
        return
    try:
        other = yaml.safe_load(f"k: {word}\n")["k"]
    except yaml.YAMLError as error:  # a reader that stops misleads nobody
        assert error
        return
    assert (type(other), other) == (type(ours), ours)


def test_memory_stays_small():
    tracemalloc.start()
    read(TestBounds.BOMB, "x.yaml")
    read("a: [" + "1," * 131_000 + "]", "x.yaml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
