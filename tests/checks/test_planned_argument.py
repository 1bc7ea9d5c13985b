"""The arguments that a job may not give again are those that the launch files give."""

from pathlib import Path

from iacgen.checks.blueprint.planned_argument import DEEPSPEED, MEGATRON
from iacgen.pipeline import run, tree

TEXT = (Path(__file__).parents[2] / "blueprints/superpod-h100.yaml").read_text()
OTHER_SPELLING = {"num-layers-per-virtual-pipeline-stage"}
OF_OTHER_MODELS = {"expert-model-parallel-size"}


def test_megatron_is_given_each_of_them():
    whole = TEXT.replace("recompute: none\n    framework: megatron", "recompute: full\n    data: /scratch/corpus\n    framework: megatron").replace("context: 2}", "context: 2, sequence: true}")
    given = set()
    for text in (whole, whole.replace("gradients: bf16", "gradients: fp32\n    precision: fp8", 1)):
        state = run(text, "x.yaml")
        assert state.project, state.findings
        lines = tree(state)["training/pretrain/megatron.args"].splitlines()
        given |= {line.removeprefix("--").partition("=")[0] for line in lines}
    assert set(MEGATRON) - given == OTHER_SPELLING | OF_OTHER_MODELS


def test_deepspeed_is_given_each_of_them():
    state = run(TEXT, "x.yaml")
    launch = tree(state)["training/finetune/launch.sh"]
    assert all(f"--{option}" in launch for option in DEEPSPEED)
