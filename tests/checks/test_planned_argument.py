"""The arguments that a job may not give again are those that the launch files give."""

from pathlib import Path

from iacgen.checks.blueprint.planned_argument import DEEPSPEED, MEGATRON
from iacgen.pipeline import run, tree

TEXT = (Path(__file__).parents[2] / "blueprints/superpod-h100.yaml").read_text()
OTHER_SPELLING = {"num-layers-per-virtual-pipeline-stage"}
EXPERTS = {"model: llama-3.1-405b": "model: deepseek-v3", "count: 126": "count: 64", "tensor: 8, pipeline: 9, virtual: 7, context: 2}": "pipeline: 8, expert: 64, first_layers: 5}", "global_batch: 252": "global_batch: 2048", "recompute: none": "recompute: full"}


def changed(text, edits):
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_megatron_is_given_each_of_them():
    whole = changed(TEXT, {"recompute: none\n    framework: megatron": "recompute: full\n    data: /scratch/corpus\n    framework: megatron", "context: 2}": "context: 2, sequence: true}"})
    given = set()
    for edits in ({"gradients: bf16": "gradients: fp32\n    precision: fp8"}, {"sequence: 8192": "sequence: 16384"}, EXPERTS):
        text = changed(TEXT if edits is EXPERTS else whole, edits)
        state = run(text, "x.yaml")
        assert state.project, [f for f in state.findings if f.severity == "error"]
        lines = tree(state)["training/pretrain/megatron.args"].splitlines()
        given |= {line.removeprefix("--").partition("=")[0] for line in lines}
    assert set(MEGATRON) - given == OTHER_SPELLING


def test_deepspeed_is_given_each_of_them():
    state = run(TEXT, "x.yaml")
    launch = tree(state)["training/finetune/launch.sh"]
    assert all(f"--{option}" in launch for option in DEEPSPEED)
