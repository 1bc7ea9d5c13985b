"""``iacgen place --down``: the smallest change when hosts fail, and what it costs."""

import json
from pathlib import Path

import jsonschema
import pytest

SUPERPOD = Path(__file__).parents[2] / "blueprints" / "superpod-h100.yaml"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/placement.schema.json").read_text(encoding="utf-8"))


def placed(call, *args):
    done = call("place", SUPERPOD, "--job", "pretrain", *args, "--format", "json")
    assert (done.exit_code, done.stderr) == (0, "")
    out = json.loads(done.stdout)
    jsonschema.validate(out, SCHEMA, cls=jsonschema.Draft202012Validator)
    return out["jobs"][0]


def test_nothing_else_moves(call):
    now, after = placed(call), placed(call, "--down", "gpu0033")
    node = now["hosts"].index("gpu0033")
    (spare,) = [idle["host"] for idle in now["idle"]]
    assert after["hosts"] == [spare if host == "gpu0033" else host for host in now["hosts"]]
    change = after["change"]
    assert change["moves"] == [{"ranks": [8 * node, 8 * node + 7], "from": "gpu0033", "to": spare, "same": None, "spare": True}]
    assert (change["down"], change["ranks_moved"]) == (["gpu0033"], 8)
    assert (change["before"]["seconds"], change["before"]["bytes_leaving"], change["before"]["digest"]) == (now["cost"]["seconds"], now["cost"]["bytes_leaving"], now["digest"])
    assert change["anew"]["seconds"] <= after["cost"]["seconds"] * (1 + 1e-9)
    assert after["idle"] == [{"host": "gpu0033", "why": "down"}]


def test_the_words_say_who_takes_over_and_what_it_costs(call):
    after = placed(call, "--down", "gpu0033")
    (move,) = after["change"]["moves"]
    done = call("place", SUPERPOD, "--job", "pretrain", "--down", "gpu0033")
    assert done.exit_code == 0 and max(map(len, done.stdout.splitlines())) <= 100
    words = " ".join(done.stdout.split())
    assert f"gpu0033: its ranks {move['ranks'][0]} to {move['ranks'][1]} go to {move['to']}, of another leaf group, which was a spare" in words
    assert "8 of 1,008 ranks move" in words and "once these hosts stand in nodes.gpu.down" in words


def test_what_generate_writes_is_told_rightly(call):
    for down in (("gpu0033",), ("gpu0033", "gpu0050")):
        options = [word for host in down for word in ("--down", host)]
        done = call("place", SUPERPOD, "--job", "finetune", *options, "--format", "json")
        after = json.loads(done.stdout)["jobs"][0]
        done = call("place", SUPERPOD, "--job", "finetune", "--set", f"nodes.gpu.down=[{','.join(down)}]", "--set", "training.pretrain=null", "--format", "json")
        assert (json.loads(done.stdout)["jobs"][0]["hosts"] == after["hosts"]) == after["change"]["generated"]


def test_a_host_without_a_rank_that_fails_moves_none(call):
    now = placed(call)
    spare = now["idle"][0]["host"]
    after = placed(call, "--down", spare)
    assert after["hosts"] == now["hosts"] and after["change"]["moves"] == []
    assert f"{spare} had no rank" in call("place", SUPERPOD, "--job", "pretrain", "--down", spare).stdout


@pytest.mark.parametrize(
    "options, message",
    [
        (("--down", "gpu0128"), "no pool of these jobs has a host gpu0128; there is gpu0001 to gpu0127"),
        (("--down", "oss0001"), "no pool of these jobs has a host oss0001; there is gpu0001 to gpu0127"),
        (("--set", "nodes.gpu.down=[gpu0007]", "--set", "training.pretrain=null", "--down", "gpu0007"), "gpu0007 is down already, in nodes.gpu.down"),
    ],
)
def test_a_host_that_cannot_fail_is_refused(call, options, message):
    done = call("place", SUPERPOD, "--job", "finetune", *options)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"iacgen: {message}\n")


def test_more_failures_than_hosts_are_a_finding(call):
    done = call("place", SUPERPOD, "--job", "pretrain", "--down", "gpu0001", "--down", "gpu0002")
    assert done.exit_code == 1 and "too-few-hosts" in done.stdout and "no rank was placed" in done.stderr
