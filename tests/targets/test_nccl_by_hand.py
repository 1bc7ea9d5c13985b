"""Variables of NCCL that a blueprint sets stand in every dialect, in the place of what follows from the fabric, and NCCL reads them."""

from pathlib import Path

import pytest

from iacgen.pipeline import run, tree
from iacgen.verify import nccl

TEXT = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text()
REASON = """It's the fabric's "slow" re-route, 100 % of it: $HOME #1"""


def state_with(settings, reason=REASON):
    quoted = reason.replace("'", "''")
    return run(f"{TEXT}\nnccl:\n  set: {{{settings}}}\n  reason: '{quoted}'\n", "lab.yaml")


def test_every_dialect_has_the_value():
    files = tree(state_with("NCCL_IB_TIMEOUT: 22, NCCL_DEBUG: VERSION"))
    for path in ("nccl/nccl.conf", "nccl/nccl.sh", "nccl/container.env", "training/pretrain/.deepspeed_env"):
        lines = [line.removeprefix("export ").replace("'", "") for line in files[path].splitlines()]
        assert "NCCL_IB_TIMEOUT=22" in lines, path
        assert [line for line in lines if line.startswith("NCCL_DEBUG=")] == ["NCCL_DEBUG=VERSION"], path
    assert f"# {REASON}" in files["nccl/nccl.conf"]


def test_a_note_does_not_deny_what_is_set():
    files = tree(state_with("NCCL_IB_GID_INDEX: 3"))
    assert "NCCL_IB_GID_INDEX=3" in files["nccl/nccl.conf"]
    assert "Not set: NCCL_IB_GID_INDEX" not in files["nccl/nccl.conf"]


@pytest.mark.judge("nccl")
def test_nccl_reads_them(tmp_path):
    state = state_with("NCCL_IB_TIMEOUT: 22, NCCL_IB_TC: 104, NCCL_DEBUG: VERSION, NCCL_NET_GDR_LEVEL: PIX")
    for path, text in tree(state).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    verdict = nccl.verify(tmp_path, state.project)
    assert verdict.status == "passed", verdict.findings
