"""NCCL's files: the right few values for each fabric, and the same in every dialect."""

import re
from pathlib import Path

import pytest

from iacgen.pipeline import run
from iacgen.targets import nccl

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


def project(name, *changes):
    """A shipped blueprint with words replaced, through the pipeline."""
    text = (BLUEPRINTS / f"{name}.yaml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    state = run(text, name)
    assert state.project, state.findings
    return state.project


def conf(text):
    """What libnccl takes from an nccl.conf: everything behind the first sign of equality, untrimmed."""
    return dict(line.split("=", 1) for line in text.split("\n") if "=" in line and not line.startswith("#"))


def lines(text):
    """What DeepSpeed's launcher takes from its file; it knows no comment and no blank line."""
    return dict(line.split("=", 1) for line in text.removesuffix("\n").split("\n"))


def test_infiniband_rails():
    """DGX H100 User Guide, table 6: the compute ports in GPU order; mlx5_1 and mlx5_7 are storage, 2 and 8 Ethernet."""
    files = nccl.render(project("superpod-h100"))
    assert conf(files["nccl/nccl.conf"]) == {
        "NCCL_DEBUG": "WARN",
        "NCCL_SOCKET_IFNAME": "=bond0",
        "NCCL_IB_HCA": "=mlx5_0:1:0,mlx5_3:1:1,mlx5_4:1:2,mlx5_5:1:3,mlx5_6:1:4,mlx5_9:1:5,mlx5_10:1:6,mlx5_11:1:7",
    }


def test_a_bond_has_the_name_that_the_blueprint_gives_it():
    files = nccl.render(project("superpod-h100"))
    assert conf(files["nccl/nccl.conf"])["NCCL_SOCKET_IFNAME"] == "=bond0" and "GLOO_SOCKET_IFNAME" not in files["nccl/nccl.conf"]
    assert lines(files["training/finetune/.deepspeed_env"])["GLOO_SOCKET_IFNAME"] == lines(files["nccl/container.env"])["GLOO_SOCKET_IFNAME"] == "bond0"
    without = lines(nccl.render(project("superpod-h100", ("    interface: bond0", "    # interface:")))["nccl/container.env"])
    assert without["NCCL_SOCKET_IFNAME"] == "^bmc,docker,enx,ib,lo,usb,veth" and "GLOO_SOCKET_IFNAME" not in without


def test_a_port_that_the_site_renames_has_the_site_s_name():
    settings = lines(nccl.render(project("lab", ("    purpose: management\n", "    purpose: management\n    interface: lan0\n")))["nccl/container.env"])
    assert (settings["NCCL_SOCKET_IFNAME"], settings["GLOO_SOCKET_IFNAME"]) == ("=lan0", "lan0")


def test_nccl_before_2_30_knows_no_rails():
    files = nccl.render(project("superpod-h100", ("\ntraining:", '\nsoftware: {nccl: "2.27.7"}\n\ntraining:')))
    assert conf(files["nccl/nccl.conf"])["NCCL_IB_HCA"] == "=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"


def test_roce_sends_in_the_lossless_class():
    settings = conf(nccl.render(project("lab"))["nccl/nccl.conf"])
    assert settings["NCCL_IB_TC"] == "106"  # DSCP 26, ECT(0)
    assert settings["NCCL_IB_HCA"] == "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7"
    assert settings["NCCL_SOCKET_IFNAME"] == "=eno1"
    assert not settings.keys() & {"NCCL_IB_GID_INDEX", "NCCL_IB_SL", "NCCL_IB_QPS_PER_CONNECTION"}  # one leaf: no paths to choose from


def test_the_class_follows_the_fabric():
    changed = project("lab", ("    switch: sn5600", "    switch: sn5600\n    qos: {dscp: 24, priority: 3, cnp_dscp: 48, cnp_priority: 6}"))
    assert conf(nccl.render(changed)["nccl/nccl.conf"])["NCCL_IB_TC"] == str(24 * 4 + 2)


def test_several_paths_want_several_flows():
    large = project("lab", ("system: hgx-h100, count: 2}", "system: hgx-h100, count: 40}"), ("global_batch: 128", "global_batch: 640"))
    assert large.design.fabrics["compute"].spines
    text = nccl.render(large)["nccl/nccl.conf"]
    assert conf(text)["NCCL_IB_QPS_PER_CONNECTION"] == "4"
    assert re.search(r"^# .*paths.*\nNCCL_IB_QPS_PER_CONNECTION=", text, re.MULTILINE)  # a debugging name: only with its reason


def test_efa_is_left_to_its_plugin():
    text = nccl.render(project("aws-p5"))["nccl/nccl.conf"]
    assert conf(text) == {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "^docker,lo,veth"}


@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_every_value_has_its_reason(name):
    text = nccl.render(project(name))["nccl/nccl.conf"]
    rows = text.split("\n")
    for number, row in enumerate(rows):
        assert not row or row.startswith("#") or re.fullmatch(r"NCCL_[A-Z_]+=[^\s\"'#]+", row)
        if row and not row.startswith("#"):
            assert rows[number - 1].startswith("# ")


@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_the_dialects_say_the_same(name):
    made = project(name)
    files = nccl.render(made)
    own = conf(files["nccl/nccl.conf"])
    others = lines(files["nccl/container.env"])
    assert {key: value for key, value in others.items() if key.startswith("NCCL_")} == own
    jobs = {job for job in made.jobs if made.jobs[job].spec.framework == "deepspeed"}
    assert jobs
    assert {path for path in files if path.startswith("training/")} == {f"training/{job}/.deepspeed_env" for job in jobs}
    for job in jobs:
        assert lines(files[f"training/{job}/.deepspeed_env"]) == others
    exported = dict(re.findall(r"^export ([A-Z_]+)=(?:'([^']*)'|\S*)$", files["nccl/nccl.sh"], re.MULTILINE))
    assert exported.keys() == others.keys()


def test_pools_that_differ_get_a_folder_each():
    """Adapter names differ by system: no file fits both pools."""
    two = project(
        "lab",
        ("  ctl: {", "  dgx: {site: lab-room, system: dgx-h100, count: 2}\n  ctl: {"),
        ("connects: [gpu]", "connects: [gpu, dgx]"),
        ("connects: [gpu, ctl]", "connects: [gpu, dgx, ctl]"),
    )
    files = nccl.render(two)
    assert "nccl/nccl.conf" not in files
    assert conf(files["nccl/gpu/nccl.conf"])["NCCL_IB_HCA"].startswith("=mlx5_0,mlx5_1,")
    assert conf(files["nccl/dgx/nccl.conf"])["NCCL_IB_HCA"].startswith("=mlx5_0,mlx5_3,")
    assert lines(files["training/pretrain/.deepspeed_env"])["NCCL_IB_HCA"].startswith("=mlx5_0,mlx5_1,")


def test_without_gpus_there_is_nothing_to_say():
    text = "kind: Cluster\nschema: 1\nname: desk\nsites: {room: {kind: on-prem, rack: {power: 30kW, units: 48}}}\nnodes: {ctl: {site: room, system: generic-1u, count: 1}}\n"
    state = run(text, "desk")
    assert state.project, state.findings
    assert nccl.render(state.project) == {}


CASES = Path(__file__).parents[1] / "cases/fabric"


def fabric_case(name, *changes):
    text = (CASES / f"{name}.yaml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    state = run(text, name)
    assert state.project, state.findings
    return state.project


def test_rails_that_nothing_joins_are_kept_apart():
    """NCCL user guide, NCCL_CROSS_NIC: 0 where the NICs of a node are on networks of their own; NCCL does not find that out."""
    settings = conf(nccl.render(fabric_case("rails"))["nccl/nccl.conf"])
    assert settings["NCCL_CROSS_NIC"] == "0" and "NCCL_PXN_DISABLE" not in settings
    joined = nccl.render(fabric_case("rails", ("rail-only", "rail-fat-tree"), ("count: 8}}", "count: 2}}")))
    assert "NCCL_CROSS_NIC" not in conf(joined["nccl/nccl.conf"])
    roce = nccl.render(fabric_case("rails", ("infiniband", "roce"), ("qm9700", "sn5600"), (", manager: {kind: opensm, pool: sm}", ""), (", sm: {site: h, system: generic-1u-ndr, count: 8}", "")))
    assert conf(roce["nccl/nccl.conf"])["NCCL_CROSS_NIC"] == "0"


def test_an_adapter_has_a_port_in_each_plane():
    """Planes of InfiniBand are subnets: port 1 of every adapter in the first, port 2 in the second."""
    settings = conf(nccl.render(fabric_case("two-subnets"))["nccl/nccl.conf"])
    assert settings["NCCL_IB_HCA"].startswith("=mlx5_0:1,mlx5_0:2,mlx5_3:1,mlx5_3:2,") and settings["NCCL_IB_HCA"].count(",") == 15
    assert settings["NCCL_CROSS_NIC"] == "0"
