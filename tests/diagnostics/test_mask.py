"""No printer prints what looks secret, whatever is found beside it, and no place moves for it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.diagnostics import concise, github, markdown, sarif, text
from iacgen.diagnostics import json as json_printer
from iacgen.diagnostics.mask import Mask, masked_name, private_lines
from iacgen.diagnostics.report import gather
from iacgen.diagnostics.secret import holds_secret
from iacgen.explain import kinds
from iacgen.pipeline import run

LAB = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text(encoding="utf-8")
TOKEN = "hf_" + "a1B2c3D4e5" * 3 + "xyzw"
RANDOM = "Zk3Qv9Lw7Xr2Ty8Ub4Nm6Pd1Sf5Gh0Jc"
LONG = "correct-horse-battery-staple " * 8
# secret, what stands in the place of what in the lab, ids of what is found
CASES = {
    "a token where a name is wanted": (TOKEN, {"name: lab": f"name: {TOKEN}"}, ["IAC106"]),
    "a token where a mapping is wanted": (TOKEN, {"rack: {power: 30kW, units: 48}": f"rack: {TOKEN}"}, ["IAC107"]),
    "a token as a word of a list of words": (TOKEN, {"technology: roce": f"technology: {TOKEN}"}, ["IAC105"]),
    "a token as a key": (TOKEN, {"name: lab": f"name: lab\n{TOKEN}: 1"}, ["IAC102"]),
    "a token as the name of a pool": (TOKEN, {"  ctl: {": f"  {TOKEN}: {{"}, ["IAC106"]),
    "a token that is a reference": (TOKEN, {"controllers: ctl": f"controllers: {TOKEN}"}, ["IAC106"]),
    "a token that is told as one": (TOKEN, {"zero: 3": f"zero: 3\n    arguments: [--hub-token={TOKEN}]"}, ["IAC285"]),
    "a random word that is told as one": (RANDOM, {"zero: 3": f"zero: 3\n    arguments: [--tracker={RANDOM}]"}, ["IAC287"]),
    "a key of AWS in a path": ("AKIAIOSFODNN7EXAMPLE", {"zero: 3": "zero: 3\n    script: '/opt/AKIAIOSFODNN7EXAMPLE/ x'"}, ["IAC106"]),
    "a password behind an unknown key": ("hunter2", {"name: lab": "name: lab\npassword: hunter2"}, ["IAC102"]),
    "a password beside another mistake": ("hunter2", {"count: 2}": "count: two, bmc_password: hunter2}"}, ["IAC102", "IAC107"]),
    "a number for a password": ("0123456", {"count: 2}": "count: 2, apiKey: 0123456}"}, ["IAC007"]),
    "a short number for a password": ("012", {"count: 2}": "count: 2, password: 012}"}, ["IAC007"]),
    "a date for a password": ("2024-01-01", {"count: 2}": "count: 2, password: 2024-01-01}"}, ["IAC012"]),
    "a password with what an argument cannot have": ("hunter 2", {"zero: 3": "zero: 3\n    arguments: ['--db-password=hunter 2']"}, ["IAC106"]),
    "a password as the word after": ("hunter2!", {"zero: 3": "zero: 3\n    arguments: [--db-password, hunter2!]"}, ["IAC106"]),
    "a password in the line below": ("hunter2!", {"zero: 3": "zero: 3\n    arguments:\n      - --db-password\n      - hunter2!"}, ["IAC106"]),
    "a password of several words that is cut off": (LONG[:40], {"training:\n": f"nccl: {{set: {{NCCL_TOKEN: '{LONG}'}}, reason: because}}\ntraining:\n"}, ["IAC106"]),
    "a password through an alias": ("hunter2!", {"name: lab": "name: lab\ndescription: &p hunter2!", "zero: 3": "zero: 3\n    arguments: [--db-password, *p]"}, ["IAC106"]),
    "a password with a quote": ("hun\\'ter2", {"zero: 3": "zero: 3\n    arguments: [--db-password, \"hun'ter2 \\\"\"]"}, ["IAC106"]),
    "a password in a quote that is not closed": ("hunter2", {"name: lab": 'name: lab\npassword: "hunter2'}, ["IAC002"]),
    "a password in a list that is not closed": ("hunter2", {"zero: 3": "zero: 3\n    arguments: [--db-password, hunter2"}, ["IAC002"]),
    "a password and a character that does not show": ("hunter2", {"name: lab": "name: lab\npassword: hunter2\u200b"}, ["IAC015"]),
    "a password in a comment": ("hunter2", {"name: lab": "name: Lab # password: hunter2"}, ["IAC106"]),
    "a password in the reason of a comment": ("hunter2", {"sequence: 8192": "sequence: 16384 # iacgen: allow IAC320 -- the password is hunter2"}, []),
    "a private key of several lines": ("MIIEvQIBADANBgkqhkiG9w0", {"name: lab": "name: lab\ndescription: |\n  -----BEGIN PRIVATE KEY-----\n  MIIEvQIBADANBgkqhkiG9w0\u200b\n  -----END PRIVATE KEY-----"}, ["IAC015"]),
    "a user and a password in an address": ("hunter2", {"name: lab": "name: https://me:hunter2@host"}, ["IAC106"]),
}


def outputs(state):
    report = gather(state.findings, state.document, state.suppressed)
    yield text.render(report)
    yield concise.render(report)
    yield github.render([report])
    yield markdown.render([report])
    yield json_printer.render([report], "production")
    (log,) = json.loads(sarif.render([report], kinds(), "1.2.3"))["runs"]
    log["tool"]["driver"].pop("rules")  # the pages, with their examples
    yield json.dumps(log)


@pytest.mark.parametrize("says", CASES)
def test_no_printer_prints(says):
    secret, edits, ids = CASES[says]
    edited = LAB
    assert secret not in LAB
    for old, new in edits.items():
        assert old in edited
        edited = edited.replace(old, new, 1)
    state = run(edited, "x.yaml")
    assert sorted({f.id for f in state.findings}) == ids
    for out in outputs(state):
        assert secret not in out and secret.encode("unicode_escape").decode() not in out


@pytest.mark.parametrize("given", [f"name={TOKEN}", "nodes.gpu.password=hunter2", "nodes.gpu.db_password=[hunter2", "nodes.gpu.count.password=hunter2"])
def test_a_value_of_the_command_line_is_no_name_of_a_file(given):
    state = run(LAB, "x.yaml", sets=[given])
    assert state.findings
    for out in outputs(state):
        assert "hunter2" not in out and TOKEN not in out


def test_a_secret_of_an_overlay_is_not_printed():
    state = run(LAB, "x.yaml", over=[("nodes: {gpu: {password: hunter2}}\n", "over.yaml")])
    assert [f.id for f in state.findings] == ["IAC102"]
    assert all("hunter2" not in out and "over.yaml" in out for out in outputs(state))


def test_what_is_no_secret_stays():
    state = run(LAB.replace("name: lab", "name: Lab\ntoken_file: /etc/token\nmax_tokens: 4096"), "x.yaml")
    shown = text.render(gather(state.findings, state.document))
    assert all(line in shown for line in ("'Lab' does not match", "| name: Lab", "| token_file: /etc/token", "| max_tokens: 4096"))


def test_the_stars_stand_in_the_place_of_the_secret():
    state = run(LAB.replace("name: lab", "name: lab\npassword: \N{ELECTRIC PLUG}unter2  # of the BMC"), "x.yaml")
    (entry,) = gather(state.findings, state.document).entries
    assert entry.place.source == "password: \N{MEDIUM SIX SPOKED ASTERISK}******  # of the BMC"
    assert entry.finding.message == "unknown key 'password'"


@pytest.mark.parametrize("key", ["password", "bmc_password", "dbPassword", "token", "hub-token", "--hub-token", "apiKey", "api_key", "api-keys", "aws.secret-key", "AWS_SECRET_ACCESS_KEY", "ssh_key", "client_secret", "credentials"])
def test_a_key_that_holds_a_secret(key):
    assert holds_secret(key)


@pytest.mark.parametrize("key", ["key", "keys", "", "_key", "token_file", "tokens", "max_tokens", "tokenizer", "eos_token", "pad-token", "NCCL_IB_PKEY", "monkey", "password_file", "secretary", "name", "x" * 10_000])
def test_a_key_that_holds_none(key):
    assert not holds_secret(key)


LINES = st.lists(st.sampled_from(["password: ", "token=", "--api-key", ", ", "'", '"', "[", "]", "{", "}", " # ", "x", TOKEN, "\N{ELECTRIC PLUG}", " ", "https://a:b@c", RANDOM]) | st.text(max_size=3), max_size=12).map("".join)


@given(LINES)
def test_no_column_moves(line):
    """Neither for who counts characters nor for who counts code units of UTF-16; and what is hidden once hides nothing more."""
    mask = Mask(None, {}, lambda span: "")
    out = mask.line("x", 1, line)
    assert [len(c.encode("utf-16-le", "surrogatepass")) for c in out] == [len(c.encode("utf-16-le", "surrogatepass")) for c in line]
    assert f" {TOKEN} " not in f" {out} "
    assert all(a in (b, "*", "\N{MEDIUM SIX SPOKED ASTERISK}") for a, b in zip(out, line, strict=True))


def test_a_name_of_a_file_stays():
    assert masked_name(f"{RANDOM}.yaml") == f"{RANDOM}.yaml"


def test_the_lines_of_private_keys():
    assert private_lines("a\r\n-----BEGIN PRIVATE KEY-----\r\nb\r-----END PRIVATE KEY-----\nc\n-----BEGIN RSA PRIVATE KEY\nd\n") == {2, 3, 4, 6, 7, 8}
