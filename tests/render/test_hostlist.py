"""Hostlists against Slurm's own answers: recorded ones always, the program itself where it is there."""

import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen.render import InvalidHostlist, expand, fold

CASES = json.loads((Path(os.environ.get("IACGEN_CASES", Path(__file__).parents[1] / "cases")) / "hostlists.json").read_text())

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a loaded machine is no fault of ours
prefixes = st.sampled_from(["gpu", "n", "r1n", "a-", "", "x0y"])
numbers = st.builds(lambda value, width: str(value).zfill(width), st.integers(0, 120), st.integers(1, 4))
hosts = st.builds(lambda prefix, number: prefix + number or "n", prefixes, numbers | st.just("")) | st.sampled_from(["gpu1-ib", "gpu2-ib", "node-a"])
host_lists = st.lists(hosts, max_size=60)


@pytest.mark.parametrize("case", CASES["compress"], ids=lambda case: case["hostlist"])
def test_folds_as_scontrol_does(case):
    assert fold(case["names"], keep_order=True) == case["hostlist"]
    assert fold(case["names"]) == case["sorted"]


@pytest.mark.parametrize("case", CASES["expand"], ids=lambda case: case["hostlist"] or "empty")
def test_expands_as_scontrol_does(case):
    if case["refused"]:
        with pytest.raises(InvalidHostlist):
            expand(case["hostlist"])
    else:
        assert expand(case["hostlist"]) == [name for name in case["names"] if name]


@given(host_lists)
@unhurried
def test_folding_in_order_loses_nothing(names):
    assert expand(fold(names, keep_order=True)) == names


@given(host_lists)
@unhurried
def test_folding_sorted_keeps_the_set_and_forgets_the_order(names):
    folded = fold(names)
    assert set(expand(folded)) == set(names)
    assert len(expand(folded)) == len(set(names))
    assert fold(reversed(names)) == folded


def test_several_brackets_run_in_slurms_order():
    """Measured with scontrol 22.05.8: not the lexicographic order once there are three."""
    assert expand("r[1-2]n[01-02]") == ["r1n01", "r1n02", "r2n01", "r2n02"]
    assert expand("r[1-3]g[1-2]x[1-2]")[:7] == ["r1g1x1", "r1g1x2", "r2g1x1", "r2g1x2", "r3g1x1", "r3g1x2", "r1g2x1"]
    assert expand("n[1-2][3-4]") == ["n13", "n14", "n23", "n24"]


@pytest.mark.parametrize("text", ["n[1-65537]", "n[a-c]", "n[1-9:4]", "n[1,,2]", "gpu[1-2", "a]", "gpu[1-2] cpu1", "gpu[1-2].cluster", "n[1-60000]m[1-60000]", "n[+1-2]", "n[٣]"])
def test_refuses_what_is_no_hostlist(text):
    with pytest.raises(InvalidHostlist):
        expand(text)


@pytest.mark.parametrize("name", ["", "a b", "a,b", "n[1]", "a\n"])
def test_refuses_what_is_no_host(name):
    with pytest.raises(InvalidHostlist):
        fold(["ok", name])


def test_a_range_stays_within_slurms_limit():
    names = [f"n{i}" for i in range(1, 65538)]
    assert fold(names) == "n[1-65536,65537]"
    assert expand(fold(names)) == names


def test_twelve_thousand_names_take_no_time():
    names = [f"r{rack:03d}n{node:02d}" for rack in range(1, 376) for node in range(1, 33)]
    shuffled = random.Random(1).sample(names, len(names))
    spent = []
    for _ in range(3):
        start = time.process_time()
        folded = fold(shuffled)
        expanded = expand(folded)
        spent.append(time.process_time() - start)
    assert expanded == names
    assert min(spent) < 0.1


@pytest.fixture(scope="module")
def scontrol(tmp_path_factory):
    """``scontrol show``, which wants a configuration though it asks no daemon."""
    conf = tmp_path_factory.mktemp("slurm") / "slurm.conf"
    conf.write_text("ClusterName=x\nSlurmctldHost=localhost\nNodeName=n1 NodeAddr=127.0.0.1\nPartitionName=p Nodes=n1\n")

    def show(what, text):
        done = subprocess.run(["scontrol", "show", what, text], env={**os.environ, "SLURM_CONF": str(conf)}, capture_output=True, text=True, timeout=30)
        return None if done.returncode or "Invalid" in done.stdout + done.stderr else done.stdout.split()

    return show


@pytest.mark.judge("slurm-22.05")
def test_scontrol_expands_what_we_fold(scontrol):
    @settings(unhurried, max_examples=60)
    @given(st.lists(hosts, min_size=1, max_size=40))
    def agrees(names):
        assert scontrol("hostnames", fold(names, keep_order=True)) == names
        assert scontrol("hostlist", ",".join(names)) == [fold(names, keep_order=True)]
        assert scontrol("hostnames", fold(names)) == expand(fold(names))

    agrees()


@pytest.mark.judge("slurm-22.05")
@pytest.mark.parametrize("text", ["r[1-2]g[1-2]x[1-2]", "a[1-2]b[1,3]c[01-02]d[5]", "n[1-2][3-4]", "n[1-2]m", "n[1-2]m3", "n[1-003]", ",a,,b,", "n[1,,2]", "n[1-65537]", "n[1-2]]"])
def test_scontrol_reads_what_we_read(scontrol, text):
    try:
        ours = expand(text)
    except InvalidHostlist:
        ours = None
    assert scontrol("hostnames", text) == ours
