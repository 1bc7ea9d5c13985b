"""Whatever stands in a file: no traceback, every finding inside the file, every printer prints, and what is clean can be written.

``HYPOTHESIS_PROFILE=long`` tries 10,000 files of each sort; without it, some hundreds.
"""

import copy
import importlib.util
import json
import os
import random
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from iacgen import __version__
from iacgen.diagnostics import concise, errors, github, lines, markdown, report, sarif, text
from iacgen.diagnostics import json as json_printer
from iacgen.explain import kinds
from iacgen.pipeline import run, tree
from iacgen.starter import Wish, write

ROOT = Path(__file__).parents[2]
BASES = {file.stem: file.read_text(encoding="utf-8") for file in sorted((ROOT / "blueprints").glob("*.yaml"))}
WISHES = [Wish("dgx-h100", 64), Wish("p5.48xlarge", 9, capacity="cr-0a1b2c3d4e5f67890"), Wish("hgx-h100", 40, fabric="roce"), Wish("dgx-a100", 4)]
MEANT = BASES | {wish.system: write(wish) for wish in WISHES} | {"all_sections": (ROOT / "tests/blueprint/all_sections.yaml").read_text(encoding="utf-8")}
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
many = settings(max_examples=10_000 if LONG else 250, deadline=None, suppress_health_check=list(HealthCheck))

WORDS = """no|On|y|~|null|010|0x1F|0b1|1e3|5e-5|1_000|1:30|24:00:00|2024-01-01|2.10|.inf|.nan|=|<<|true|-1|0|1|2|7|64|65535|65536|99999999999|12345678901234567890123
''|""|[]|{}|[~]|{a: 1}|[[[[]]]]|!!python/object:os.system x|!vault x|!!binary aGk=|*a|&a b|"\\0"|"\\u202e"|"\\ud800"|"a\\nb"|'{{ x }}'|'${x}'|'%{if x}'|'$(id)'|'`id`'|../..|/etc/passwd|'a b'|a:b|'#'|lab|gpu
gpu0001|'gpu[1-2]'|dgx-h100|p5.48xlarge|m7i.4xlarge|sn5600|qm9700|llama-3-8b|llama-3.1-405b|infiniband|ethernet|management|storage|megatron|deepspeed|slurm|lustre|s3|aws|on-prem|capacity-block|rail-fat-tree
10PB|1B|0B|1kW|999GW|10kw|1s|0s|1GB/s|1Gb/s|10.0.0.0/8|10.16.0.0/12|1.2.3.4/5|us-east-2|us-east-2a|cr-0a1b2c3d4e5f67890|/scratch|/usr|Zürich|日本|😀|\u202e|\u200b|\x07|"\x85"|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""".replace("\n", "|").split("|")


def beside(name):
    """A file of this folder as a module; by path, since the tests are no package."""
    spec = importlib.util.spec_from_file_location(f"iacgen_tests_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


typed = beside("typed")


class Raw(str):
    """Text that stands in the file as it is."""


class Map(list):
    """A mapping as pairs, so that it can say a key twice."""


def pairs(data):
    if isinstance(data, dict):
        return Map([[key, pairs(value)] for key, value in data.items()])
    return [pairs(item) for item in data] if isinstance(data, list) else data


def written(data, flow, indent=0):
    """YAML of pairs, lists and scalars; block style but below ``flow`` levels."""
    if isinstance(data, Map) and data and flow > 0:
        return "".join(f"\n{' ' * indent}{key if isinstance(key, Raw) else json.dumps(key)}: {written(value, flow - 1, indent + 2)}" for key, value in data)
    if isinstance(data, Map):
        return "{" + ", ".join(f"{key if isinstance(key, Raw) else json.dumps(key)}: {written(value, 0)}" for key, value in data) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(written(item, 0) for item in data) + "]"
    return data if isinstance(data, Raw) else json.dumps(data)


def places(data, path=()):
    """Every container of the blueprint with the index of something in it."""
    if isinstance(data, list):
        for i in range(len(data)):
            yield data, i
            yield from places(data[i][1] if isinstance(data, Map) else data[i], (*path, i))


def mutate(data, chance):
    """One change somewhere, of a kind that people or strangers make."""
    spots = list(places(data))
    if not spots:
        return
    here, i = chance.choice(spots)
    word = Raw(chance.choice(WORDS))
    kind = chance.choice(["drop", "double", "rename", "scalar", "scalar", "scalar", "swap", "steal", "nest", "add", "letters"])
    if kind == "drop":
        del here[i]
    elif kind == "double":
        here.insert(i, copy.deepcopy(here[i]))
    elif kind == "add":
        here.insert(i, [word, Raw(chance.choice(WORDS))] if isinstance(here, Map) else word)
    elif kind in ("swap", "steal"):
        there, j = chance.choice(spots)
        if kind == "swap" and isinstance(here, Map) == isinstance(there, Map):
            here[i], there[j] = copy.deepcopy(there[j]), copy.deepcopy(here[i])
        elif isinstance(here, Map) and isinstance(there, Map):
            here[i][1] = copy.deepcopy(there[j][1])
    elif isinstance(here, Map) and kind == "rename":
        here[i][0] = word
    elif isinstance(here, Map) and kind == "letters":
        key = str(here[i][0])
        at = chance.randrange(len(key) or 1)
        here[i][0] = chance.choice([key[:at] + key[at + 1 :], key[:at] + "x" + key[at:], key.upper(), key[::-1]])
    else:
        value = word if kind == "scalar" else [here[i]] if not isinstance(here, Map) else Map([[word, here[i][1]]])
        if isinstance(here, Map):
            here[i][1] = value
        else:
            here[i] = value


def scratched(source, chance):
    """The text with a line moved, doubled, dropped or indented, or with a hostile word somewhere."""
    rows = source.split("\n")
    for _ in range(chance.randint(1, 3)):
        i, j = chance.randrange(len(rows)), chance.randrange(len(rows))
        match chance.randrange(6):
            case 0:
                rows.insert(j, rows[i])
            case 1:
                rows[i] = ""
            case 2:
                rows[i] = " " * chance.randint(1, 3) + rows[i]
            case 3:
                rows[i] = rows[i].lstrip(" ")
            case 4:
                at = chance.randint(0, len(rows[i]))
                rows[i] = rows[i][:at] + chance.choice(WORDS) + rows[i][at:]
            case 5:
                rows[i], rows[j] = rows[j], rows[i]
    return chance.choice(["\n", "\n", "\n", "\r\n", "\r"]).join(rows)


def judged(source, over=(), sets=(), write_it=True):
    """Run it, print it in every way, hold every place to its file, and write it when it is clean and wanted."""
    state = run(source, "x.yaml", "production", [(layer, f"{i}.yaml") for i, layer in enumerate(over)], sets)
    document = state.document
    spans = [document.place(f) for f in state.findings] + [document.span(r.path) for f in state.findings for r in f.related]
    for span in spans:
        rows = lines(document.text_of(span))
        rows = rows if rows[-1] or len(rows) == 1 else rows[:-1]
        assert 1 <= span.line <= len(rows), span
        length = len(rows[span.line - 1])
        assert 1 <= span.column <= max(1, length) and span.column < span.end <= max(1, length) + 1, (span, rows[span.line - 1])
    found = report.gather(state.findings, document, state.suppressed)
    for out in (text.render(found), concise.render(found), github.render([found]), markdown.render([found])):
        assert all(c in "\n\u200c" or c.isprintable() for c in out), out  # U+200C keeps GitHub from linking what looks like a commit
    json.loads(json_printer.render([found], "production"))
    json.loads(sarif.render([found], kinds(), __version__, []))
    assert len({(f.id, p, f.message) for f, p in zip(state.findings, spans, strict=False)}) == len(state.findings), "one mistake was told twice"
    if write_it and not errors(state.findings):
        assert tree(state)
    return state


seeds = st.integers(0, 2**48)


@pytest.mark.parametrize("name", BASES)
@given(seed=seeds)
@settings(many, max_examples=many.max_examples // len(BASES) + 1)
def test_a_changed_blueprint(name, seed):
    chance = random.Random(seed)
    data = pairs(yaml.safe_load(BASES[name]))
    for _ in range(chance.randint(1, 4)):
        mutate(data, chance)
    judged(written(data, chance.randint(0, 5)).lstrip("\n") + chance.choice(["\n", ""]))


@pytest.mark.parametrize("name", BASES)
@given(seed=seeds)
@settings(many, max_examples=many.max_examples // len(BASES) + 1)
def test_a_scratched_file(name, seed):
    judged(scratched(BASES[name], random.Random(seed)).encode("utf-8", "surrogatepass"))


@given(seed=seeds)
@settings(many, max_examples=many.max_examples // 3 + 1)
def test_scratched_overlays(seed):
    chance = random.Random(seed)
    layers = ["nodes:\n  gpu:\n    count: 4\n    down: [gpu0001]\n", "fabrics:\n  mgmt: {connects: [gpu]}\nsites: {lab-room: {rack: null}}\n"]
    sets = [f"{chance.choice(['nodes.gpu.count', 'name', 'nodes.gpu', 'training.pretrain.zero', 'sites.lab-room.rack.power', 'a..b', 'x.y'])}={chance.choice(WORDS)}"]
    judged(BASES["lab"], [scratched(layer, chance) for layer in layers], sets)


noise = st.text("abk:-?[]{},&*!|>%@`'\"#\\ \n\t~<=.0123456789exno", max_size=120) | st.text(st.characters(), max_size=60)
values = st.recursive(st.sampled_from([Raw(w) for w in WORDS]) | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(st.sampled_from([Raw("a"), Raw("kind"), Raw("nodes"), Raw("<<")]), inner), max_size=3).map(lambda p: Map([list(x) for x in p])), max_leaves=10)


@given(noise | values.map(lambda v: written(v, 3).lstrip("\n")))
@many
def test_any_text(source):
    judged(source)


@given(st.binary(max_size=80))
@settings(many, max_examples=many.max_examples // 3 + 1)
def test_any_bytes(source):
    judged(source)


def retyped(name, chance):
    """One of the blueprints with one to three values changed to others that the language knows."""
    data = yaml.safe_load(MEANT[name])
    for _ in range(chance.randint(1, 3)):
        typed.change(data, chance)
    return written(pairs(data), chance.randint(0, 5)).lstrip("\n") + "\n"


@pytest.mark.parametrize("name", MEANT)
@given(seed=seeds)
@settings(many, max_examples=2 * many.max_examples // len(MEANT) + 1, phases=set(Phase) - {Phase.shrink, Phase.explain})  # a smaller seed is no simpler file
def test_a_blueprint_of_values_that_the_language_knows(name, seed):
    judged(retyped(name, random.Random(seed)), write_it=LONG or seed % 3 == 0)


def test_such_values_reach_the_design_and_most_checks():
    """What the test above is worth, over a fixed sample: without it a property could pass over files that no check ever sees."""
    designed, ids = 0, set()
    for seed in range(400):
        state = run(retyped(list(MEANT)[seed % len(MEANT)], random.Random(seed)), "x.yaml")
        designed += state.design is not None
        ids |= {f.id for f in state.findings}
    assert designed >= 0.4 * 400
    assert len(ids) >= 40
