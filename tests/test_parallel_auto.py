"""``parallel: auto`` through the whole flow: sizes stand in the blueprint before anything is checked or placed, and tell their origin."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from iacgen.blueprint.assume import Assume
from iacgen.cli.app import app
from iacgen.pipeline import run, tree
from iacgen.training.assume import Assumptions

BLUEPRINT = """\
kind: Cluster
schema: 1
name: pod
sites:
  hall: {{kind: on-prem, rack: {{power: 45kW, units: 48}}}}
nodes:
  gpu: {{site: hall, system: dgx-h100, count: 9, spares: 1}}
  ctl: {{site: hall, system: generic-1u, count: 1}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: roce, topology: fat-tree, switch: sn5600}}
  mgmt: {{site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, topology: fat-tree, switch: sn2201, subnet: 10.0.0.0/16}}
scheduler: {{kind: slurm, version: "24.11", controllers: ctl}}
training:
  pretrain: {{model: {model}, nodes: gpu, sequence: 8192, global_batch: 128, framework: {framework}, parallel: auto{more}}}
"""


def made(model="llama-3-70b", framework="megatron", more="", name="pod.yaml"):
    return run(BLUEPRINT.format(model=model, framework=framework, more=more), name)


def named(state, slug):
    return [f for f in state.findings if f.slug == slug]


@pytest.mark.parametrize("framework", ["megatron", "deepspeed"])
def test_the_job_gets_a_plan_that_fits_and_is_placed(framework):
    state = made(framework=framework)
    job = state.project.jobs["pretrain"]
    assert job.world == 64 and job.memory.fits
    cut = state.blueprint.training["pretrain"].parallel
    assert (cut.tensor, cut.pipeline, cut.virtual) == (job.spec.tensor, job.spec.pipeline, job.spec.virtual)
    (told,) = named(state, "plan-chosen")
    assert told.severity == "info" and "next fastest" in told.help


def test_what_is_chosen_reads_back_as_the_same_tree():
    """The tree's own resolved blueprint has the sizes, and nothing is searched again."""
    state = made()
    files = tree(state)
    again = run(files[".iacgen/resolved.yaml"], "pod.yaml", "lab", room=8)
    assert not named(again, "plan-chosen")
    assert tree(again) == files


def test_stated_values_are_kept():
    state = made(more=", micro_batch: 2, recompute: full")
    spec = state.project.jobs["pretrain"].spec
    assert (spec.micro_batch, spec.recompute) == (2, "full")
    assert not {("training", "pretrain", key) for key in ("micro_batch", "recompute")} & state.decided.keys()


def test_a_job_that_fits_nowhere_is_refused_at_its_parallel():
    state = made(model="llama-3.1-405b", more=", count: 1")
    (refused,) = named(state, "no-plan-fits")
    assert refused.path == ("training", "pretrain", "parallel") and "GiB" in refused.message
    assert state.project is None


@pytest.mark.parametrize(("more", "stated"), [("", ""), (", recompute: full, micro_batch: 1", ", or leave micro_batch and recompute out")])
def test_what_does_not_fit_is_told_how_many_nodes_it_fits_and_which_stated_values_tie_it(more, stated):
    (refused,) = named(made(model="llama-3.1-405b", more=", count: 1" + more), "no-plan-fits")
    nodes = int(re.search(r"count: (\d+)", refused.help)[1])
    assert "micro_batch" not in refused.help.removesuffix(stated) or stated in refused.help
    assert (stated in refused.help) if stated else "leave" not in refused.help
    for count, fits in ((nodes, True), (nodes // 2, False)):
        text = BLUEPRINT.format(model="llama-3.1-405b", framework="megatron", more=f", count: {count}{more}")
        wide = text.replace("count: 9, spares: 1", f"count: {nodes + 1}, spares: 1")
        assert wide != text and bool(named(run(wide, "pod.yaml"), "no-plan-fits")) != fits, count


def test_nodes_that_nothing_joins_have_no_plan():
    text = BLUEPRINT.format(model="llama-3-70b", framework="megatron", more="").replace("purpose: compute", "purpose: storage")
    (refused,) = named(run(text, "pod.yaml"), "no-plan-fits")
    assert "no compute fabric" in refused.message


def test_a_fabric_in_error_is_not_told_as_missing():
    text = BLUEPRINT.format(model="llama-3-70b", framework="megatron", more="").replace("technology: roce", "technology: rose")
    state = run(text, "pod.yaml")
    assert not named(state, "no-plan-fits")


def test_what_does_not_fit_is_said_beside_other_errors():
    text = BLUEPRINT.format(model="llama-3.1-405b", framework="megatron", more=", count: 1").replace("spares: 1", "spars: 1")
    assert named(run(text, "pod.yaml"), "no-plan-fits")


def test_assumptions_of_the_blueprint_change_the_prediction():
    slow, fast = (made(more=f", assume: {{matmul: {share}}}") for share in (0.4, 0.8))
    seconds = [float(named(state, "plan-chosen")[0].message.partition(" takes ")[2].split(" s ")[0]) for state in (slow, fast)]
    assert seconds[0] > 1.5 * seconds[1]


def test_every_assumption_can_be_stated_in_a_blueprint():
    assert set(Assumptions.__dataclass_fields__) < set(Assume.model_fields)


def test_resolve_tells_what_was_chosen(tmp_path):
    file = tmp_path / "pod.yaml"
    file.write_text(BLUEPRINT.format(model="llama-3-70b", framework="megatron", more=", micro_batch: 1"))
    answer = CliRunner().invoke(app, ["resolve", str(file), "--format", "json"])
    origins = {leaf["path"]: (leaf["value"], leaf["origin"]) for leaf in json.loads(answer.stdout)}
    spec = made(more=", micro_batch: 1").project.jobs["pretrain"].spec
    assert origins["training.pretrain.parallel.tensor"] == (spec.tensor, "auto")
    assert origins["training.pretrain.parallel.virtual"] == (spec.virtual, "auto")
    assert origins["training.pretrain.recompute"] == (spec.recompute, "auto")
    assert origins["training.pretrain.micro_batch"][1].endswith(":14")


def test_auto_is_the_only_word():
    (mistake,) = [f for f in run(BLUEPRINT.format(model="llama-3-70b", framework="megatron", more="").replace("parallel: auto", "parallel: best"), "pod.yaml").findings if f.severity == "error"]
    assert mistake.path == ("training", "pretrain", "parallel")
