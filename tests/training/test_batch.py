"""Which numbers are refused, where the finding points, and that its advice is good."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
import yaml

from iacgen import catalog
from iacgen.catalog.models import Stretch
from iacgen.training import JobSpec, batch, limits, releases, stages
from iacgen.training.course import Wanted
from iacgen.training.data import Input

CASES = yaml.safe_load(Path(__file__).with_name("refusals.yaml").read_text())
ARITHMETIC = Path(batch.__file__).read_text() + Path(limits.__file__).read_text() + Path(releases.__file__).read_text() + Path(stages.__file__).read_text()


def changed(spec, change):
    """The job with other numbers; those that belong to the model go into its model."""
    own = {field.name for field in fields(JobSpec)}
    if "experts" in change:
        change = change | {"experts": spec.model.experts.model_copy(update=change["experts"])}
    if "rope_stretch" in change:
        change = change | {"rope_stretch": Stretch(**change["rope_stretch"])}
    if "tokens" in change:
        change = change | {"wanted": Wanted(change["tokens"])}
    if "input" in change:
        change = change | {"input": Input(**change["input"])}
    if "framework_version" in change:
        change = change | {"framework_version": tuple(change["framework_version"])}
    model = spec.model.model_copy(update={k: v for k, v in change.items() if k not in own})
    change = change | ({"gpu": catalog.gpu(change["gpu"])} if "gpu" in change else {})
    return replace(spec, model=model, **{k: v for k, v in change.items() if k in own})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['base']}-{case['change']}")
def test_the_finding_names_the_fault_and_its_place(request, case):
    spec = changed(request.getfixturevalue(case["base"]), case["change"])
    found = [(f.id, f.slug, f.path) for f in batch.check(spec)]
    assert found == [(id, slug, ("training", spec.name, *path.split("."))) for id, slug, path in case["findings"]]


@pytest.mark.parametrize("name", ["pretrain", "finetune", "moe"])
def test_a_sound_job_has_no_findings(request, name):
    assert batch.check(request.getfixturevalue(name)) == []


@pytest.mark.parametrize("usable, advice", [(None, "set count: 126 or 144, or change"), (144, "set count: 126 or 144, or change"), (130, "set count: 126, or change"), (100, "set count: 90, or change"), (10, "change parallel")])
def test_advice_names_no_more_nodes_than_are_free(pretrain, usable, advice):
    """18 nodes hold one copy: tensor 8 * pipeline 9 * context 2."""
    (finding,) = batch.check(replace(pretrain, nodes=127, usable_nodes=usable))
    assert finding.help.startswith(advice)


def test_every_finding_of_the_modules_has_a_case():
    written = {f"IAC{number}" for number in re.findall(r"\b(?:spec, |IAC)(3\d\d)", ARITHMETIC)}
    assert written == {id for case in CASES for id, _, _ in case["findings"]}


@pytest.mark.parametrize(("change", "field"), [({"nodes": 127}, "nodes"), ({"global_batch": 250}, "global_batch"), ({"global_batch": 259}, "global_batch")])
def test_the_numbers_that_the_help_offers_are_sound(pretrain, change, field):
    (finding,) = batch.check(replace(pretrain, **change))
    offered = re.match(r"set \w+: (\d+) or (\d+)", finding.help)
    for number in map(int, offered.groups()):
        again = replace(pretrain, **{field: number})
        assert finding.id not in {f.id for f in batch.check(again)}


@pytest.mark.parametrize(
    ("model", "pipeline", "virtual", "offered"),
    [
        ("deepseek-v3", 16, 1, "with virtual 1, pipeline can be 1, 61; or keep pipeline 16 with last_layers: 1"),
        ("llama-3.1-405b", 16, 8, "keep pipeline 16 with embedding_as_layer: true and loss_as_layer: true"),
        ("llama-3-8b", 11, 1, "or keep pipeline 11 with embedding_as_layer: true; or keep pipeline 11 with last_layers: 2"),
        ("llama-3-8b", 3, 5, "no size of pipeline goes with virtual 5"),
    ],
)
def test_the_advice_about_layers_names_ends_that_come_out_even(pretrain, model, pipeline, virtual, offered):
    spec = replace(pretrain, model=catalog.model(model), pipeline=pipeline, virtual=virtual, context=1)
    (finding,) = [f for f in batch.check(spec) if f.id == "IAC306"]
    assert offered in finding.help
    for way in re.findall(r"keep pipeline \d+ with ([^;]+)", finding.help):
        ends = {name: value == "true" or int(value) for name, value in re.findall(r"(\w+): (\w+)", way)}
        assert "IAC306" not in {f.id for f in batch.check(replace(spec, **ends))}, way


def test_a_tensor_size_that_divides_nothing_is_told_once_with_those_that_divide_all(pretrain):
    spec = replace(pretrain, model=catalog.model("llama-3-8b"), tensor=3)
    (finding,) = [f for f in batch.check(spec) if f.path == spec.at("parallel", "tensor")]
    assert finding.help.startswith("use 1, 2, 4, 8:")


def divides(n, *parts):
    return n % prod(parts) == 0


def adds_up(spec):
    """The rules once more, as one condition on numbers: 126 layers, 8 GPUs a node, tensor 8 or 4, sequence 8192."""
    if not divides(spec.nodes * 8, spec.tensor, spec.pipeline, spec.context):
        return False
    copies = spec.nodes * 8 // (spec.tensor * spec.pipeline * spec.context)
    share = 8 // spec.tensor  # positions of context, copies and pipeline in a node: 1 or 2
    even = share == 1 or divides(spec.context, 2) or (spec.context == 1 and (divides(copies, 2) or (copies == 1 and divides(spec.pipeline, 2))))
    steps, left = divmod(spec.global_batch, spec.micro_batch * copies)
    interleaved = spec.virtual == 1 or (spec.pipeline > 1 and divides(steps, spec.pipeline))
    pieces = spec.context == 1 or divides(8192, 2 * spec.context)
    return left == 0 and interleaved and divides(126, spec.pipeline, spec.virtual) and pieces and even


def test_what_is_let_through_is_what_divides(pretrain):
    sound = 0
    for numbers in product((1, 2, 3, 4, 6, 9, 12), (8, 16, 24, 36), (1, 2), (4, 8), (1, 2, 3, 9), (1, 2, 7), (1, 2, 3)):
        names = ("nodes", "global_batch", "micro_batch", "tensor", "pipeline", "virtual", "context")
        spec = replace(pretrain, **dict(zip(names, numbers, strict=True)))
        assert (not batch.check(spec)) == adds_up(spec), numbers
        sound += adds_up(spec)
    assert sound > 100
