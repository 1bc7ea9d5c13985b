"""``iacgen place --picture``: the drawing shows the order that is printed."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
SUPERPOD = BLUEPRINTS / "superpod-h100.yaml"


def titles(file):
    root = ElementTree.fromstring(file.read_bytes())
    return [path[0].text for path in root.iter("{http://www.w3.org/2000/svg}path") if not path.attrib["class"].split()[1].startswith(("shade", "cross"))]


def test_every_host_is_drawn_with_its_ranks(call, tmp_path):
    done = call("place", SUPERPOD, "--job", "pretrain", "--picture", "x.svg", "--format", "json")
    (job,) = json.loads(done.stdout)["jobs"]
    grid = job["grid"]
    row = grid["tensor"] * grid["context"] * grid["data"]
    expected = [
        f"{host}: ranks {8 * v:,} to {8 * v + 7:,}, stage {v // row + 1}, replica {v % row // (grid['tensor'] * grid['context']) + 1}, context part {v // grid['tensor'] % grid['context'] + 1} of {grid['context']}"
        if grid["context"] > 1
        else f"{host}: ranks {8 * v:,} to {8 * v + 7:,}, stage {v // row + 1}, replica {v % row // grid['tensor'] + 1}"
        for v, host in enumerate(job["hosts"])
    ]
    assert sorted(titles(tmp_path / "x.svg")) == sorted([*expected, *(f"{idle['host']}: {idle['why']}" for idle in job["idle"])])
    assert job["digest"][:16] in (tmp_path / "x.svg").read_text(encoding="utf-8")


def test_hosts_stand_in_their_leaf_groups(call, tmp_path):
    (tmp_path / "t.conf").write_text("SwitchName=top Switches=a,b\nSwitchName=a Nodes=gpu[0001-0060]\nSwitchName=b Nodes=gpu[0061-0126]\n", encoding="utf-8")
    assert call("place", SUPERPOD, "--job", "finetune", "--topology", "t.conf", "--picture", "x.svg", "--down", "gpu0009").exit_code == 0
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "a: 60 hosts" in text and "b: 66 hosts" in text and "elsewhere: 1 host" in text
    assert "gpu0009: down" in text and "gpu0127: place unknown" in text


def test_no_file_is_overwritten_and_one_job_is_shown(call, tmp_path):
    done = call("place", SUPERPOD, "--picture", "x.svg")
    assert done.exit_code == 2 and "say which with --job" in done.stderr and not (tmp_path / "x.svg").exists()
    (tmp_path / "x.svg").write_text("mine", encoding="utf-8")
    done = call("place", SUPERPOD, "--job", "finetune", "--picture", "x.svg")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "iacgen: x.svg exists; it was not touched\n")


def test_the_same_bytes_again(call, tmp_path):
    for name in ("x.svg", "y.svg"):
        call("place", BLUEPRINTS / "aws-p5.yaml", "--picture", name)
    one, other = ((tmp_path / name).read_bytes() for name in ("x.svg", "y.svg"))
    assert one == other and re.match(rb"<\?xml", one)
