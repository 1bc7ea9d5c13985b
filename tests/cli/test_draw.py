"""``iacgen draw``: one drawing on standard output or in a new file, or a reason why not."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from iacgen.pipeline import run, tree

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
SUPERPOD = BLUEPRINTS / "superpod-h100.yaml"


@pytest.mark.parametrize(
    "options, path",
    [((), "fabric/compute/fabric.svg"), (("--fabric", "mgmt"), "fabric/mgmt/fabric.svg"), (("--what", "rail"), "fabric/compute/rail.svg"), (("--what", "racks"), "facility/hall-a.svg"), (("--what", "racks", "--site", "hall-a"), "facility/hall-a.svg")],
)  # fmt: skip
def test_it_draws_what_generate_writes(call, options, path):
    done = call("draw", SUPERPOD, *options)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == tree(run(SUPERPOD.read_bytes(), "x"))[path]


def test_another_rail(call):
    done = call("draw", SUPERPOD, "--what", "rail", "--rail", "8")
    root = ElementTree.fromstring(done.stdout.encode())
    assert done.exit_code == 0 and "rail 8" in root[0].text and "su1-leaf8" in root[1].text


def test_the_ranks_of_a_job(call, tmp_path):
    done = call("draw", SUPERPOD, "--what", "placement", "--job", "pretrain")
    assert (done.exit_code, done.stderr) == (0, "")
    call("place", SUPERPOD, "--job", "pretrain", "--picture", "x.svg")
    assert done.stdout == (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_one_of_several_jobs_is_asked_for(call):
    done = call("draw", SUPERPOD, "--what", "placement")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "iacgen: a drawing shows one job: say which with --job; there is finetune, pretrain\n")


def test_a_value_laid_over_the_blueprint_shows(call, blueprint):
    done = call("draw", "lab.yaml", "--set", "nodes.gpu.count=3")
    assert "gpu0003" in done.stdout and "gpu0003" not in call("draw", "lab.yaml").stdout


def test_a_new_file_is_written_and_none_is_overwritten(call, blueprint, tmp_path):
    done = call("draw", "lab.yaml", "-o", "x.svg")
    assert (done.exit_code, done.stdout) == (0, "")
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert text == call("draw", "lab.yaml").stdout
    again = call("draw", "lab.yaml", "-o", "x.svg")
    assert (again.exit_code, again.stderr) == (2, "iacgen: x.svg exists; it was not touched\n")
    nowhere = call("draw", "lab.yaml", "-o", "no/x.svg")
    assert nowhere.exit_code == 2 and "cannot write no/x.svg" in nowhere.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (("--fabric", "mgmtt"), "mgmtt is not a fabric with switches; there is compute, mgmt"),
        (("--what", "rail"), "there is not a fabric by rails in this blueprint"),
        (("--what", "placement", "--job", "x"), "x is not a job; there is pretrain"),
        (("--what", "racks", "--site", "x"), "x is not a site with racks; there is lab-room"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(call, blueprint, options, message):
    done = call("draw", "lab.yaml", *options)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"iacgen: {message}\n")


def test_a_cloud_has_nothing_to_draw(call):
    for what in ("fabric", "rail", "racks"):
        done = call("draw", BLUEPRINTS / "aws-p5.yaml", "--what", what)
        assert done.exit_code == 2 and "in this blueprint" in done.stderr


def test_too_high_a_rail_is_refused(call):
    done = call("draw", SUPERPOD, "--what", "rail", "--rail", "9")
    assert (done.exit_code, done.stderr) == (2, "iacgen: compute has no rail 9\n")


def test_no_design_no_drawing(call, blueprint):
    done = call("draw", "lab.yaml", "--set", "fabrics.compute.switch=nothing")
    assert done.exit_code == 1 and "<svg" not in done.stdout and "error[" in done.stdout


def test_a_design_with_an_error_is_drawn_and_told(call, blueprint):
    done = call("draw", "lab.yaml", "--set", "training.pretrain.global_batch=127")
    assert done.exit_code == 1 and done.stdout.endswith("</svg>\n") and "1 error in this blueprint" in done.stderr
