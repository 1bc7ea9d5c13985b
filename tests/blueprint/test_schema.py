"""The JSON Schema says what the models say: it never refuses what they accept, and what they refuse by form it refuses too."""

import json
import re
from pathlib import Path
from typing import Annotated

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from iacgen import units
from iacgen.blueprint import parse
from iacgen.blueprint.base import Section
from iacgen.blueprint.schema import schema

ROOT = Path(__file__).parents[2]
SCHEMA = schema()
VALID = Draft202012Validator(SCHEMA).is_valid
SHIPPED = {p.stem: yaml.safe_load(p.read_text(encoding="utf-8")) for p in sorted((ROOT / "blueprints").glob("*.yaml"))}
SHIPPED["all-sections"] = yaml.safe_load(Path(__file__).with_name("all_sections.yaml").read_text(encoding="utf-8"))
FIELDS = [(model, name) for model in Section.__subclasses__() for name in model.model_fields]
SECTIONS = [SCHEMA, *SCHEMA["$defs"].values()]

# What a hand may write in the place of another thing. No text ends in a line feed: there Python's "$" differs from that of ECMA 262.
OTHER = [
    None, True, False, 0, 1, 2, 3, -1, 8, 63, 64, 10**9, 1.0, 1.5, 0.5, "", "x", "1", "true", "null", "Gpu", "gpu ", "Ä", "a\u202eb", "${x}", "../x", "gpu1", "9a", "-a",
    "air", "N+1", "on-demand", "capacity-block", "s3", "lustre", "aws", "22.05", "cr-0a1b2c3d4e5f67890", "/a/b", "a/b", "2.10", "10.0.0.0/8", "8.8.0.0/16", "10.0.0.1/8", "10.0.0.0/255.0.0.0",
    "7-00:00:00", "90", [], ["gpu"], [1], [None], {}, {"kind": "on-demand"}, {"kind": "aws"}, {"kind": "ufm"}, {"kind": 1}, {"gpu": {}}, {"x": None},
]  # fmt: skip
NUMBERS = ["0", "0.0", "1", "42", "007", "1.5", "0.001", "1.", ".5", "-3", "1e3", "1" * 30, "1" * 41]
UNITS = ["", "B", "b", "kB", "KB", "KiB", "TiB", "PB", "GB/s", "Gb/s", "GiB/s", "W", "kW", "KW", "GW", "TW", "s", "ms", "min", "Min", "h", "d", "x"]


def paths(data, path=()):
    """Every path into plain data."""
    yield path
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inner in pairs:
        yield from paths(inner, (*path, key))


def spoil(data, chance):
    """One edit at a random place: another value, a key less, a key more, a key of another name."""
    *parents, last = chance.choice([p for p in paths(data) if p])
    here = data
    for step in parents:
        here = here[step]
    edit = chance.choice(["replace", "replace", "quantity", "drop", "add", "rename"])
    if edit == "replace":
        here[last] = json.loads(json.dumps(chance.choice(OTHER)))
    elif edit == "quantity":
        here[last] = chance.choice(NUMBERS) + chance.choice(["", " ", "  "]) + chance.choice(UNITS)
    elif edit == "drop":
        del here[last]
    elif isinstance(here, dict):
        here[chance.choice(["colour", "kind", "count", "x9", "X", "a b", "gpu", "id", "domain", "sequence"])] = here[last]
        if edit == "rename":
            here.pop(last)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_blueprint_is_valid(name):
    errors = [e.message for e in Draft202012Validator(SCHEMA).iter_errors(SHIPPED[name])]
    blueprint, findings = parse(SHIPPED[name])
    assert (errors, findings) == ([], []) and blueprint


def test_the_sample_with_all_sections_has_each():
    """Otherwise the edits below would never reach some section."""
    used = {json.dumps(sorted(here)) for data in SHIPPED.values() for p in paths(data) if isinstance(here := at(data, p), dict)}
    for model in Section.__subclasses__():
        keys = {field.alias or name for name, field in model.model_fields.items()}
        assert any(set(json.loads(u)) == keys for u in used), f"no blueprint of this test has all keys of {model.__name__}"


def at(data, path):
    for step in path:
        data = data[step]
    return data


def only_parse_can_tell(finding, data):
    """Errors of a value whose form is right: the schema has no words for them."""
    try:
        value = at(data, finding.path)
    except (KeyError, IndexError, TypeError):
        return False
    if isinstance(value, float) and value.is_integer():
        return True  # JSON Schema counts 2.0 as a whole number
    if not isinstance(value, str) or finding.id != "IAC107":
        return False
    quantity = any(re.search(units.pattern(d), value) for d in ("bytes", "bytes_per_s", "watts", "seconds"))
    return quantity or "/" in value  # a fraction of a byte, more than anything on earth, a network that is not private


@given(st.sampled_from(sorted(SHIPPED)), st.integers(1, 3), st.randoms(use_true_random=False))
def test_what_the_models_accept_is_valid_and_what_they_refuse_by_form_is_not(name, edits, chance):
    data = json.loads(json.dumps(SHIPPED[name]))
    for _ in range(edits):
        spoil(data, chance)
    blueprint, findings = parse(data)
    valid = VALID(data)
    if blueprint:
        assert valid
    elif valid:
        assert all(only_parse_can_tell(f, data) for f in findings), findings


@pytest.mark.parametrize(("model", "name"), FIELDS, ids=[f"{m.__name__}.{n}" for m, n in FIELDS])
def test_every_field_says_what_it_is_with_an_example_that_it_takes(model, name):
    field = model.model_fields[name]
    assert field.examples, "an editor shows examples"
    definition = SCHEMA if model.__name__ == "Blueprint" else SCHEMA["$defs"][model.__name__]
    shown = definition["properties"][field.alias or name]
    assert shown["title"] == (field.alias or name)
    assert "description" in shown or "const" in shown
    adapter = TypeAdapter(Annotated[field.annotation, None, *field.metadata])
    for example in [*field.examples, *([shown["default"]] if "default" in shown else [])]:
        assert Draft202012Validator({**shown, "$defs": SCHEMA["$defs"]}).is_valid(example), example
        adapter.validate_python(example)


def test_a_default_is_in_the_schema_as_it_is_written_in_a_blueprint():
    shown = SCHEMA["$defs"]["Rack"]["properties"]
    assert (shown["power"]["default"], shown["units"]["default"]) == ("42kW", 48)
    for model, name in FIELDS:
        field = model.model_fields[name]
        definition = SCHEMA if model.__name__ == "Blueprint" else SCHEMA["$defs"][model.__name__]
        has = "default" in definition["properties"][field.alias or name]
        assert has == (not field.is_required() and field.default is not None)
        assert ((field.alias or name) in definition.get("required", ())) == (field.is_required() or (name == "kind" and "const" in definition["properties"]["kind"]))


def test_the_schema_is_one_that_editors_read():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    text = json.dumps(SCHEMA)
    assert "discriminator" not in text
    assert text.count("patternErrorMessage") == text.count("(?=[0-9.]*[1-9])"), "a pattern of units is no message for people"
    assert all(section["additionalProperties"] is False for section in SECTIONS)
    assert "oneOf" in SCHEMA["properties"]["storage"]["patternProperties"]["^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$"]


@given(st.sampled_from(["bytes", "bytes_per_s", "bits_per_s", "watts", "seconds"]), st.sampled_from(NUMBERS), st.sampled_from(["", " ", "  "]), st.sampled_from(UNITS))
def test_the_pattern_of_a_quantity_takes_what_the_parser_takes(dimension, number, gap, unit):
    text = number + gap + unit
    try:
        value = units.parse(text, dimension)
    except ValueError as error:
        value = None if "more than anything" not in str(error) else 1
    taken = Draft202012Validator({"type": "string", "pattern": units.pattern(dimension)}).is_valid(text)
    assert taken == bool(value) or (len(text) > 40 and taken)


def test_the_committed_schema_is_current():
    committed = (ROOT / "blueprints/blueprint.schema.json").read_text(encoding="utf-8")
    assert committed == json.dumps(SCHEMA, indent=2) + "\n", "run: iacgen schema > blueprints/blueprint.schema.json"


@pytest.mark.parametrize("file", sorted((ROOT / "blueprints").glob("*.yaml")), ids=lambda p: p.stem)
def test_every_shipped_blueprint_names_the_schema_to_the_editor(file):
    first = file.read_text(encoding="utf-8").splitlines()[0]
    prefix, _, name = first.partition("$schema=")
    assert prefix == "# yaml-language-server: "
    assert json.loads((file.parent / name).read_text(encoding="utf-8")) == SCHEMA


def test_the_same_bytes_every_time():
    assert json.dumps(schema()) == json.dumps(SCHEMA)


@pytest.mark.parametrize(("path", "value"), [(("schema",), True), (("schema",), 1.0), (("training", "pretrain", "zero"), True), (("training", "pretrain", "zero"), 3.0), (("fabrics", "compute", "oversubscription"), "2")])
def test_a_number_is_not_written_as_something_that_python_takes_for_it(path, value):
    data = json.loads(json.dumps(SHIPPED["lab"]))
    at(data, path[:-1])[path[-1]] = value
    blueprint, findings = parse(data)
    assert blueprint is None
    assert [f.path for f in findings] == [path]
