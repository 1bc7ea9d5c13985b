"""Each filter against the reader it quotes for: what goes in comes out."""

import csv as csv_reader
import io
import json as json_reader
import math
import subprocess
import unicodedata
from base64 import b64decode

import pytest
import ruamel.yaml
import yaml as pyyaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from iacgen.render import AnsibleExpression, UnrepresentableValue, csv_text
from iacgen.render.filters import ansible_yaml, cell, comment, csv, dotenv, hcl, hcl_part, ini, json, nccl, sh, slurm, variable, yaml
from iacgen.verify import programs
from iacgen.verify.process import run

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a loaded machine is no fault of ours

# Words that some reader takes for a number, a boolean, a date, a comment, an anchor, a template or a command.
NASTY = """NO|no|on|y|Y|~|null|Null|true|1e3|1e+3|0644|0o17|1:30|1_000|2.10|2024-01-01|=x|=|<<|0x7fff|0x0002c90300a1b2c3|.inf|.nan|-|--|- a|? a|a: b|a:|a #b|#c|&a|*a|!x|%TAG|@a|`a`
'|"|''|\\|\\n|a\\|${a}|$${a}|$$${a}|%{if}|%%{if}|$a|$(reboot)|`reboot`|{{ a }}|{% a %}|{# a #}|[[ a ]]|<@ a @>|a;b|a&b|a>b|*|?|~root|!!|a|b|a=b|=cmd|Zürich|日本|😀|é|a\u200bb|\u2028|\u202e|\x85|\xa0|\ufeff|\x7f|\x01|\t|\r|\n|a\nb|\r\n||  a | a""".split("|")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(NASTY) | st.text("aN0-:.'\"\\#$%{}[]|_*` \n\t", max_size=12)
integers = st.integers(-(2**70), 2**70)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = texts | integers | floats | st.booleans() | st.none()
structures = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=15)


def same(left, right):
    """Equal in value and type: 1 is not True, "1" is not 1."""
    if isinstance(left, dict):
        return isinstance(right, dict) and list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


class TestYaml:
    @given(structures)
    @unhurried
    def test_both_yaml_versions_read_the_value(self, value):
        text = yaml(value)
        assert same(value, pyyaml.safe_load(text)), text
        assert same(value, ruamel.yaml.YAML(typ="safe", pure=True).load(text)), text

    @pytest.mark.parametrize("word", NASTY)
    def test_nasty_words_in_every_place(self, word):
        value = {word or "empty": [word, {"k": word}]}
        assert same(value, pyyaml.safe_load(yaml(value)))

    @given(structures, st.integers(0, 6))
    @unhurried
    def test_nests_under_a_key(self, value, indent):
        filled = isinstance(value, dict | list) and value
        text = f"key:\n{yaml(value, indent + 1)}\n" if filled else f"key: {yaml(value, indent)}\n"
        assert same({"key": value}, pyyaml.safe_load(text))

    def test_reads_well(self):
        value = {"ntp": ["time.example", "10.0.0.1"], "empty": {}, "mode": "0644", "nodes": [{"name": "gpu0001", "rails": 8}], "gpu[0001:0032]": None}
        assert yaml(value) == 'ntp:\n  - time.example\n  - "10.0.0.1"\nempty: {}\nmode: "0644"\nnodes:\n  - name: gpu0001\n    rails: 8\n"gpu[0001:0032]": null'

    @pytest.mark.parametrize("word", ["{{ lookup('pipe', 'id') }}", "{% set x = 1 %}", "a{# b"])
    def test_ansible_would_run_it(self, word):
        with pytest.raises(UnrepresentableValue):
            ansible_yaml({"a": [word]})
        with pytest.raises(UnrepresentableValue):
            ansible_yaml({word: 1})
        assert pyyaml.safe_load(ansible_yaml({"a": AnsibleExpression(word)})) == {"a": word}

    @pytest.mark.parametrize("value", [math.inf, math.nan, "\ud800", {1: 2}, {"a"}, b"a", object()])
    def test_refuses_what_it_cannot_say(self, value):
        with pytest.raises(UnrepresentableValue):
            yaml([value])


class TestJson:
    @given(structures)
    @unhurried
    def test_round_trip(self, value):
        assert same(value, json_reader.loads(json(value)))
        assert json(value).isascii()
        assert "\n" not in json(value, None)

    @pytest.mark.parametrize("value", [math.inf, math.nan, "\udfff", {1: 2}, {"a"}])
    def test_refuses_what_it_would_change(self, value):
        with pytest.raises(UnrepresentableValue):
            json({"a": value})


class TestShell:
    @given(st.lists(texts.filter(lambda text: "\0" not in text), min_size=1, max_size=8))
    @settings(unhurried, max_examples=60)
    @pytest.mark.parametrize("shell", ["bash", "sh"])
    def test_the_shell_sees_the_words(self, shell, words):
        script = f"printf '%s\\0' {' '.join(map(sh, words))}"
        assert subprocess.run([shell, "-c", script], capture_output=True, check=True).stdout.decode().split("\0")[:-1] == words

    def test_numbers_are_words_and_nul_is_not(self):
        assert sh(8) == "8"
        for value in ("a\0b", True, None, 1.5):
            with pytest.raises(UnrepresentableValue):
                sh(value)


class TestCsv:
    harmless = texts.filter(lambda text: not text.startswith(("=", "+", "-", "@", "\t")) and not set(text) & set("\0\r"))

    @given(st.lists(st.lists(harmless, min_size=1, max_size=4), max_size=4))
    @unhurried
    def test_round_trip(self, rows):
        assert list(csv_reader.reader(io.StringIO(csv_text(rows), newline=""), strict=True)) == rows

    def test_numbers_and_gaps(self):
        assert csv(["leaf-01", 3, -1, None, 'a "b", c']) == 'leaf-01,3,-1,,"a ""b"", c"'

    @pytest.mark.parametrize("word", ["=1+1", "+1", "-1", "@a", "\tx", "a\0", "a\r"])
    def test_a_spreadsheet_would_run_it(self, word):
        with pytest.raises(UnrepresentableValue):
            csv(["ok", word])


class TestMarkdown:
    one_line = texts.filter(lambda text: not any(unicodedata.category(c) == "Cc" or c in "\u2028\u2029" for c in text))

    @given(one_line)
    @unhurried
    def test_the_reader_shows_the_text(self, value):
        assume(value.strip() == value)
        page = MarkdownIt("commonmark").enable("table").parse(f"| {cell(value)} | end |\n|---|---|\n| {cell(value)} | end |\n")
        cells = ["".join(leaf.content for leaf in token.children) for token in page if token.type == "inline"]
        assert cells == [value, "end", value, "end"]

    @given(one_line)
    @unhurried
    def test_a_line_of_its_own_stays_text(self, value):
        assume(value.strip() == value and value)
        page = MarkdownIt("commonmark").parse(cell(value) + "\n")
        assert [token.type for token in page] == ["paragraph_open", "inline", "paragraph_close"]
        assert "".join(leaf.content for leaf in page[1].children) == value

    def test_names_stay_readable(self):
        assert cell("mlx5_0 of gpu0001") == "mlx5_0 of gpu0001"
        assert cell(1016) == "1016"
        with pytest.raises(UnrepresentableValue):
            cell("a\nb")


class TestLines:
    GOOD = ["=mlx5_0,mlx5_1", "^docker,lo,veth", "gpu0001", "a=b", "/var/spool/slurm", "10.0.0.1", "h100:8"]
    BAD = ["", " a", "a b", "a\t", "a\nb", "a#b", 'a"', "'a'", "a\\", "é", "\x7f", True, None, ["a"], math.inf]

    @pytest.mark.parametrize("quote", [slurm, ini, nccl, dotenv])
    def test_a_word_or_nothing(self, quote):
        assert [quote(word) for word in self.GOOD] == self.GOOD
        assert quote(64) == "64"
        for word in self.BAD:
            with pytest.raises(UnrepresentableValue):
                quote(word)

    def test_brackets_are_words_where_no_shell_reads_them(self):
        for quote in (slurm, ini, nccl):
            assert quote("gpu[0001-0032]") == "gpu[0001-0032]"
        for word in ("gpu[0001-0032]", "$HOME", "a;b", "{a,b}", "~", "a*", "%n", "`a`", "a&b"):
            with pytest.raises(UnrepresentableValue):
                dotenv(word)

    def test_a_comment_stays_on_its_line(self):
        assert comment('the "8" adapters; # é') == 'the "8" adapters; # é'
        for text in ("a\nb", "a\rb", "a\u2028b", "a\x85b", "\u202eb", 1):
            with pytest.raises(UnrepresentableValue):
                comment(text)

    def test_nccl_cuts_long_values(self):
        assert nccl("a" * 1023)
        with pytest.raises(UnrepresentableValue):
            nccl("a" * 1024)

    def test_names_of_variables(self):
        assert variable("NCCL_IB_HCA") == "NCCL_IB_HCA"
        for name in ("export A", "nccl", "A-B", "", "A ", "1A", 1):
            with pytest.raises(UnrepresentableValue):
                variable(name)


class TestHcl:
    @pytest.mark.parametrize("value", [math.inf, "\ud800", "e\u0301", {1: 2}, {"a"}])
    def test_refuses_what_terraform_would_change(self, value):
        with pytest.raises(UnrepresentableValue):
            hcl(value)

    def test_layout(self):
        value = {"a": 1, "b c": [1, "x"], "n": {"for": True}, "last": None, "l": [{"x": 1}], "e": {}}
        assert hcl(value, 2) == '{\n    a     = 1\n    "b c" = [1, "x"]\n    n = {\n      "for" = true\n    }\n    last = null\n    l = [\n      {\n        x = 1\n      },\n    ]\n    e = {}\n  }'

    @pytest.mark.judge("terraform")
    def test_terraform_reads_the_values(self, tmp_path):
        """Many values in one run of ``terraform console``, which asks no provider."""
        terraform = programs.find("terraform").path

        @given(st.lists(structures.filter(_nfc), min_size=1, max_size=20))
        @settings(unhurried, max_examples=25)
        def reads(values):
            parts = [value for value in values if isinstance(value, str)]
            inner_list = ", ".join(f'"({hcl_part(part)})"' for part in parts)
            body = f"locals {{\n  values = {hcl(values, 2)}\n  parts  = [{inner_list}]\n}}\n"
            (tmp_path / "main.tf").write_text(body)
            answer = subprocess.run([terraform, "console"], cwd=tmp_path, input="base64encode(jsonencode([local.values, local.parts]))\n", capture_output=True, text=True, check=True, timeout=60)
            read, inner = json_reader.loads(b64decode(answer.stdout))
            assert _numbers_alike(read) == _numbers_alike(values)
            assert inner == [f"({p})" for p in parts]

        reads()

    @pytest.mark.judge("terraform")
    @given(st.dictionaries(texts.filter(lambda t: unicodedata.is_normalized("NFC", t)), structures.filter(lambda v: _nfc(v)), max_size=4))
    @settings(unhurried, max_examples=25)
    def test_terraform_fmt_finds_nothing_to_change(self, tmp_path_factory, value):
        folder = tmp_path_factory.mktemp("fmt")
        (folder / "main.tf").write_text(f"locals {{\n  x = {hcl(value, 2)}\n}}\n")
        answer = run([programs.find("terraform").path, "fmt", "-check", "-diff"], cwd=folder)
        assert answer.ok, answer.out


def _nfc(value):
    if isinstance(value, dict):
        return all(_nfc(key) and _nfc(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_nfc, value))
    return not isinstance(value, str) or unicodedata.is_normalized("NFC", value)


def _numbers_alike(value):
    """Terraform has one kind of number and sorts the keys of maps."""
    if isinstance(value, dict):
        return {key: _numbers_alike(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers_alike(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
