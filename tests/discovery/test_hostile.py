"""No file makes it raise: every sample, cut, doubled, exchanged and with other values in it, is read or refused."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen.diagnostics import Diagnostic
from iacgen.discovery import KINDS, names, read

CASES = Path(__file__).parents[1] / "cases/topology"
SAMPLES = {p.name: p.read_bytes() for p in sorted(CASES.iterdir()) if p.name != "expected.yaml"}
JSON_SAMPLES = {name: raw for name, raw in SAMPLES.items() if name.endswith(".json") and name not in ("ufm-rails.json", "netq-graph.json")}
SPICE = [b"\x00", b"\xff", b"\n", b'"', b"[", b"]", b"{", b"}", b"\\", b"=", b"0x", b"- ", b"? ", b"#", b"\xe2\x80\xae", b"NaN", b"1e999", b"null", b"-1"]
SPICE += [b"&a *a", b"<<: *a", b"!!python/object:os.system", b"[1-99999999]", b"SwitchName=", b'Ca\t1 "H-1"']
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["", "a", "/", "//", "swp1", "-1", "x" * 300, "\u202e", "HCA-1/1"])
ODD = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "nodes", "tier", "id", "items", "x"]), inner, max_size=3), max_leaves=5)
SLURM = ["Nodes=n1", "Nodes=n[1-3]", "Switches=a", "Switches=b,c", "Switches=[a-b]", "Nodes=n4,n5 Switches=d", "", "LinkSpeed=1", "Level=1 Nodes=n2 Switches=a"]
LINE = st.builds(lambda key, name, rest: f"{key}={name} {rest}", st.sampled_from(["SwitchName", "BlockName"]), st.sampled_from("abcdef"), st.sampled_from(SLURM))
MANY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def holds(found, meaning):
    assert all(isinstance(f, Diagnostic) and f.id.startswith("IAC") and f.message.isprintable() and f.at.line >= 1 for f in found.findings)
    assert bool(found.hierarchies) != any(f.severity == "error" for f in found.findings)
    for hierarchy in found.hierarchies:
        meaning.consistent(hierarchy)


@pytest.mark.parametrize("name", SAMPLES)
@MANY
@given(data=st.data())
def test_bytes_may_be_anything(name, meaning, data):
    raw = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at, length = data.draw(st.integers(0, len(raw))), data.draw(st.integers(0, 40))
        piece = data.draw(st.sampled_from(SPICE) | st.binary(max_size=6) | st.builds(lambda i, n: bytes(raw[i : i + n]), st.integers(0, len(raw)), st.integers(0, 200)))
        raw[at : at + length] = piece
    kind = data.draw(st.none() | st.sampled_from([k.name for k in KINDS]))
    holds(read(bytes(raw), name, kind), meaning)
    names(bytes(raw))


@pytest.mark.parametrize("name", JSON_SAMPLES)
@MANY
@given(data=st.data())
def test_values_may_be_anything(name, meaning, data):
    value = json.loads(JSON_SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 3))):
        owner, key = value, None
        while True:
            keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(owner[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
                break
            owner = owner[key]
        if key is not None and owner:
            owner[key] = data.draw(ODD)
    holds(read(json.dumps(value).encode(), name), meaning)


@pytest.mark.parametrize("kind", [k.name for k in KINDS if k.form != "text"])
@MANY
@given(value=ODD)
def test_any_value_under_any_kind(kind, meaning, value):
    holds(read(json.dumps(value).encode(), "f", kind), meaning)


@MANY
@given(lines=st.lists(LINE, max_size=8))
def test_any_lines_of_slurm(lines, meaning):
    holds(read("\n".join(lines).encode(), "f", "slurm"), meaning)
