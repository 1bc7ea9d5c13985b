"""``iacgen place --topology``: the order on the fabric that exists, with every host that it and the blueprint do not share by name."""

import json
from pathlib import Path

import jsonschema
import pytest

from iacgen.discovery import KINDS
from iacgen.cli.complete import TOPOLOGIES

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
SUPERPOD = BLUEPRINTS / "superpod-h100.yaml"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/placement.schema.json").read_text(encoding="utf-8"))
TREE = """\
SwitchName=core Switches=pod[1-2]
SwitchName=pod1 Switches=leaf[1-2]
SwitchName=pod2 Switches=leaf[3-4]
SwitchName=leaf1 Nodes=gpu[0001-0030],old1
SwitchName=leaf2 Nodes=gpu[0031-0060]
SwitchName=leaf3 Nodes=gpu[0061-0094],oss[0001-0004]
SwitchName=leaf4 Nodes=gpu[0095-0126],old[2-4]
"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "topology.conf").write_text(TREE, encoding="utf-8")
    return "--topology", "topology.conf"


def placed(call, *args, blueprint=SUPERPOD, job="pretrain"):
    done = call("place", blueprint, "--job", job, *args, "--format", "json")
    assert done.exit_code == 0, done.stdout + done.stderr
    out = json.loads(done.stdout)
    jsonschema.validate(out, SCHEMA, cls=jsonschema.Draft202012Validator)
    return out["jobs"][0]


def test_the_fabric_that_exists_stands_for_the_planned_one(call, tree):
    job = placed(call, *tree)
    assert job["fabric"] == {
        "name": "fabric",
        "source": "slurm",
        "tiers": ["leaf", "pod"],
        "files": ["topology.conf"],
        "missing": ["gpu0127"],
        "strangers": ["old1", "old2", "old3", "old4"],
        "adrift": [],
        "unlimited_tiers": ["leaf", "pod"],
    }
    assert {"host": "gpu0127", "why": "place unknown"} in job["idle"]
    # 126 of 126 hosts: a stage of 14 hosts lies in 30 + 30 + 34 + 32 of them, so two pods of 60 and 66 hosts share one stage
    dp = next(g for g in job["groups"] if g["family"] == "dp")
    assert dp["most_switch_groups"]["pod"] == 2 and job["proved"]


def test_the_words_name_every_host_that_does_not_meet(call, tree):
    done = call("place", SUPERPOD, "--job", "pretrain", *tree)
    words = " ".join(done.stdout.split())
    assert done.exit_code == 0 and max(map(len, done.stdout.splitlines())) <= 100
    assert "found in topology.conf: 134 hosts under 4 leaf, 2 pod" in words
    assert "1 of gpu are not in it: gpu0127" in words and "4 in it are of no pool: old[1-4]" in words
    assert "uplinks of leaf, pod groups unknown: counted as non-blocking" in words


def test_an_oversubscription_limits_the_uplinks(call, tree):
    free, tight = placed(call, *tree), placed(call, *tree, "--oversubscription", "leaf=2", "--oversubscription", "pod=7")
    assert tight["fabric"]["unlimited_tiers"] == []
    assert all(f["busiest_uplink"] is None for f in free["cost"]["families"])
    busiest = [f for f in tight["cost"]["families"] if f["busiest_uplink"]]
    assert busiest
    ports = {"leaf1": (31, 2), "leaf2": (30, 2), "leaf3": (38, 2), "leaf4": (35, 2), "pod1": (61, 7), "pod2": (73, 7)}
    for family in tight["sorted_names"]["families"]:  # hosts as they come: what leaves a pod is half of what leaves both
        uplink = family["busiest_uplink"]
        if uplink and uplink["of"].startswith("pod"):
            hosts, ratio = ports[uplink["of"]]
            assert uplink["seconds"] == pytest.approx(family["bytes_leaving"]["pod"] / 2 / (hosts * 8 * 50e9 / ratio))
    assert tight["cost"]["seconds"] >= free["cost"]["seconds"]


def test_hosts_down_on_a_fabric_that_exists(call, tree):
    now = placed(call, *tree, job="finetune")
    failed = now["hosts"][0]
    after = placed(call, *tree, "--down", failed, job="finetune")
    (move,) = after["change"]["moves"]
    assert after["hosts"] == [move["to"] if host == failed else host for host in now["hosts"]] and move["to"] not in now["hosts"]


def test_two_rails_in_two_files_are_one_fabric(call, tmp_path):
    for rail in (1, 2):
        (tmp_path / f"rail{rail}.conf").write_text(TREE.replace("leaf", f"r{rail}leaf").replace("pod", f"r{rail}pod"), encoding="utf-8")
    both = placed(call, "--topology", "rail1.conf", "--topology", "rail2.conf")
    (tmp_path / "topology.conf").write_text(TREE, encoding="utf-8")
    assert both["hosts"] == placed(call, "--topology", "topology.conf")["hosts"]
    assert both["fabric"]["files"] == ["rail1.conf", "rail2.conf"]


def test_two_fabrics_over_the_same_hosts_are_named_and_one_is_chosen(call, tree, tmp_path):
    (tmp_path / "other.conf").write_text("SwitchName=all Switches=a,b\nSwitchName=a Nodes=gpu[0001-0063]\nSwitchName=b Nodes=gpu[0064-0127]\n", encoding="utf-8")
    done = call("place", SUPERPOD, *tree, "--topology", "other.conf")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "several fabrics join hosts" in done.stderr or "several fabrics join the hosts of pool gpu: topology.conf:fabric (126 of its hosts), other.conf:fabric (127 of its hosts)" in done.stderr
    job = placed(call, *tree, "--topology", "other.conf", "--fabric", "other.conf:fabric")
    assert job["fabric"]["missing"] == [] and job["fabric"]["tiers"] == ["leaf"]
    done = call("place", SUPERPOD, *tree, "--fabric", "x")
    assert (done.exit_code, done.stderr) == (2, "iacgen: the files tell of no fabric x; there is fabric\n")


def instances(hosts):
    """What describe-instance-topology says of (id, nodes from the top) of machines."""
    return json.dumps({"Instances": [{"InstanceId": id, "InstanceType": "p5.48xlarge", "NetworkNodes": nodes, "AvailabilityZone": "us-east-2a", "ZoneId": "use2-az1"} for id, nodes in hosts]})


def test_machines_of_a_cloud_by_the_ids_that_it_gives_them(call, tmp_path):
    """Sixteen machines, dealt over four bricks: the order keeps those of a brick together."""
    nodes = [(f"i-{n:04x}", ["nn-top", f"nn-mid{n % 2}", f"nn-low{n % 4}"]) for n in range(1, 17)]
    (tmp_path / "topology.json").write_text(instances(nodes), encoding="utf-8")
    done = call("place", BLUEPRINTS / "aws-p5.yaml", "--topology", "topology.json")
    assert done.exit_code == 2 and "give their names with --names" in done.stderr
    pool = placed(call, blueprint=BLUEPRINTS / "aws-p5.yaml", job=next(iter(json.loads(call("place", BLUEPRINTS / "aws-p5.yaml", "--format", "json").stdout)["jobs"]))["job"])
    hosts = sorted([*pool["hosts"], *(idle["host"] for idle in pool["idle"])])
    (tmp_path / "names.csv").write_text("id,name\n" + "".join(f"i-{n:04x},{host}\n" for n, host in enumerate(hosts, 1)), encoding="utf-8")
    job = placed(call, "--topology", "topology.json", "--names", "names.csv", blueprint=BLUEPRINTS / "aws-p5.yaml", job=pool["job"])
    assert job["fabric"]["source"] == "aws-instance-topology" and job["fabric"]["missing"] == []
    brick = [(hosts.index(host) + 1) % 4 for host in job["hosts"]]
    assert len([1 for a, b in zip(brick, brick[1:], strict=False) if a != b]) == len(set(brick)) - 1
    assert job["cost"]["seconds"] <= job["sorted_names"]["seconds"]


def test_a_file_that_is_not_there_and_one_that_is_wrong(call, tmp_path):
    assert call("place", SUPERPOD, "--topology", "nowhere").exit_code == 2
    (tmp_path / "x").write_text("hello\n", encoding="utf-8")
    done = call("place", SUPERPOD, "--topology", "x")
    assert done.exit_code == 1 and "error[IAC45" in done.stdout and "--> x:1" in done.stdout and "no rank was placed" in done.stderr
    done = call("place", SUPERPOD, "--topology", "x", "--format", "json")
    assert done.exit_code == 1 and json.loads(done.stdout)["findings"][0]["file"] == "x"


@pytest.mark.parametrize(
    "options, message",
    [
        (("--oversubscription", "leaf=2"), "--topology"),
        (("--topology", "topology.conf", "--oversubscription", "leaf"), "--oversubscription leaf: write a tier and a ratio from 1 on, such as leaf=2"),
        (("--topology", "topology.conf", "--oversubscription", "leaf=0.5"), "write a tier and a ratio from 1 on"),
        (("--topology", "topology.conf", "--oversubscription", "leaf=2", "--oversubscription", "leaf=3"), "--oversubscription leaf=3: leaf has a ratio already, 2; give one"),
        (("--topology", "topology.conf", "--topology", "topology.conf"), "--topology topology.conf: given twice"),
        (("--topology", "topology.conf", "--topology", "../{}/topology.conf"), "given twice"),
        (("--topology", "topology.conf", "--topology-format", "nope"), "--topology-format nope: no such kind; there is aws-instance-topology, gcp-placement"),
        (("--topology", "topology.conf", "--oversubscription", "core=2"), "fabric has no tier core with uplinks; there is leaf, pod"),
    ],
)
def test_options_that_say_nothing_are_refused(call, tree, tmp_path, options, message):
    done = call("place", SUPERPOD, *(option.format(tmp_path.name) for option in options))
    assert (done.exit_code, done.stdout) == (2, "") and message in done.stderr


def test_the_tab_key_knows_every_kind_of_file():
    assert {kind.name for kind in KINDS} == set(TOPOLOGIES)


def test_five_tiers_fit_a_terminal(call, tmp_path):
    """A binary tree over 16 leaves: four tiers above them, and the fifth joins all."""
    lines = [f"SwitchName=l{n} Nodes=gpu[{8 * n + 1:04d}-{min(8 * n + 8, 127):04d}]" for n in range(16)]
    for below, above, many in (("l", "m", 8), ("m", "n", 4), ("n", "o", 2), ("o", "p", 1)):
        lines += [f"SwitchName={above}{n} Switches={below}[{2 * n}-{2 * n + 1}]" for n in range(many)]
    lines += ["SwitchName=other Switches=q0", "SwitchName=q0 Switches=r0", "SwitchName=r0 Switches=s0", "SwitchName=s0 Switches=t0", "SwitchName=t0 Nodes=x1", "SwitchName=top Switches=p0,other"]
    (tmp_path / "deep.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--topology", "deep.conf")
    job = placed(call, *options)
    assert len(job["fabric"]["tiers"]) >= 5
    done = call("place", SUPERPOD, "--job", "pretrain", *options)
    assert done.exit_code == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    dp = next(g for g in job["groups"] if g["family"] == "dp")
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("  data parallel") and " tier1 " in line)
    assert row[2:5] == ["tier1", str(dp["cut"]["tier1"]), f"({dp['most_switch_groups']['tier1']})"] and row[5] == str(dp["groups"])
