"""OpenSM's files: the engine that is right for the tree and no other, the roots, the lanes, the partitions."""

import re

import pytest

ENGINES = {"superpod-h100": ("storage", "ftree,no_fallback"), "opensm": ("compute", "ftree,no_fallback"), "dragonfly": ("compute", "dfsssp,no_fallback")}


def keys(text):
    return dict(line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#"))


@pytest.mark.parametrize("case", ENGINES)
def test_the_engine_never_falls_back(files, case):
    fabric, engine = ENGINES[case]
    assert keys(files(case)[f"fabric/{fabric}/opensm.conf"])["routing_engine"] == engine


def test_lanes_go_with_the_engine_that_needs_them(files):
    """Operational VLs are a code: 4 stands for eight data lanes (InfiniBand architecture, PortInfo.OperationalVLs)."""
    tree, flies = (keys(files(case)["fabric/compute/opensm.conf"]) for case in ("opensm", "dragonfly"))
    assert "qos" not in tree
    assert (flies["qos"], flies["max_op_vls"], flies["qos_max_vls"]) == ("TRUE", "4", "8")
    assert [int(lane) for lane in flies["qos_sl2vl"].split(",")] == [level % 8 for level in range(16)]


def test_paths_are_absolute_and_are_those_of_the_role(files):
    """A relative path is lost when OpenSM changes its folder."""
    found = keys(files("opensm")["fabric/compute/opensm.conf"])
    named = {key: value for key, value in found.items() if key.endswith("_file")}
    assert named == {
        "root_guid_file": "/etc/opensm/compute-root-guids", "cn_guid_file": "/etc/opensm/compute-cn-guids",
        "partition_config_file": "/etc/opensm/compute-partitions.conf", "log_file": "/var/log/opensm-compute.log",
    }  # fmt: skip
    assert "root_guid_file" not in keys(files("dragonfly")["fabric/compute/opensm.conf"])


def test_files_of_guids_are_named_exactly_where_the_plan_fills_them(files, table):
    for case in ("opensm", "dragonfly", "superpod-h100"):
        for path in files(case):
            if match := re.fullmatch(r"fabric/(.*)/opensm\.conf", path):
                wanted = {row["guids"] for row in table(case, f"{match[1]}/plan.csv")} - {""}
                found = keys(files(case)[path])
                assert {kind for kind in ("root", "cn") if f"{kind}_guid_file" in found} == wanted


def test_all_ports_are_full_members_of_the_default_partition(files):
    """OpenSM, doc/partition-config.txt: membership is limited unless said; mtu 5 is 4,096 bytes; SELF is the manager's own port."""
    lines = [line for line in files("opensm")["fabric/compute/partitions.conf"].splitlines() if not line.startswith("#")]
    (line,) = lines
    head, colon, members = line.removesuffix(";").partition(":")
    assert line.endswith(";") and colon
    assert head.split(",") == ["Default=0x7fff", "ipoib", "mtu=5"]
    assert {member.strip() for member in members.split(",")} == {"ALL=full", "ALL_SWITCHES=full", "SELF=full"}


def test_every_subnet_has_a_prefix_of_its_own(files, project):
    text = "kind: Cluster\nschema: 1\nname: t\nsites: {h: {kind: on-prem}}\nnodes: {gpu: {site: h, system: dgx-h100, count: 8}, sm: {site: h, system: generic-1u, count: 2}, sm-b: {site: h, system: generic-1u, count: 2}}\nfabrics:\n"
    text += "".join(f"  {n}: {{site: h, purpose: {p}, connects: [gpu], technology: infiniband, switch: qm9700, manager: {{kind: opensm, pool: {m}}}}}\n" for n, p, m in (("c", "compute", "sm"), ("s", "storage", "sm-b")))
    from iacgen.pipeline import run
    from iacgen.targets import fabric

    tree = fabric.render(run(text, "t").project)
    prefixes = [keys(tree[f"fabric/{name}/opensm.conf"])["subnet_prefix"] for name in "cs"]
    assert len(set(prefixes)) == 2 and all(re.fullmatch(r"0xfe8[0-9a-f]{13}", p) for p in prefixes)
    assert keys(tree["fabric/c/opensm.conf"])["routing_engine"] == "ftree,no_fallback"
    # 16 ports on one switch: no tree, and ftree would never bring it up.
    assert keys(tree["fabric/s/opensm.conf"])["routing_engine"] == "minhop"


SUBNETS = {"rails": [f"rail{n}" for n in range(1, 9)], "two-subnets": ["plane1", "plane2"]}


@pytest.mark.parametrize("case", SUBNETS)
def test_every_subnet_of_a_fabric_has_files_of_its_own(files, table, case):
    """OpenSM binds to one port and runs what that reaches: another prefix, other roots, other names, and nothing shared on one host."""
    made, folders = files(case), SUBNETS[case]
    assert sorted(path for path in made if path.endswith("opensm.conf")) == [f"fabric/compute/{folder}/opensm.conf" for folder in folders]
    found = [keys(made[f"fabric/compute/{folder}/opensm.conf"]) for folder in folders]
    for key in ("subnet_prefix", "root_guid_file", "partition_config_file", "log_file"):
        assert len({one[key] for one in found}) == len(folders)
    assert {one["routing_engine"] for one in found} == {"ftree,no_fallback"}
    described = [row["description"] for folder in folders for row in table(case, f"compute/{folder}/plan.csv") if row["kind"] == "switch"]
    assert sorted(described) == sorted(row["description"] for row in table(case, "compute/plan.csv") if row["kind"] == "switch")
    for folder in folders:
        assert {row["guids"] for row in table(case, f"compute/{folder}/plan.csv") if row["role"] == "spine"} == {"root"}


def test_a_rail_of_one_switch_is_no_tree(project):
    """One leaf a rail: ftree would never bring it up."""
    from iacgen.pipeline import run
    from iacgen.targets import fabric

    text = "kind: Cluster\nschema: 1\nname: t\nsites: {h: {kind: on-prem}}\nnodes: {gpu: {site: h, system: dgx-h100, count: 8}}\nfabrics: {compute: {site: h, purpose: compute, connects: [gpu], technology: infiniband, topology: rail-only, switch: qm9700, manager: {kind: opensm, pool: gpu}}, files: {site: h, purpose: storage, connects: [gpu], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: gpu}}}\n"
    made = fabric.render(run(text, "t").project)
    confs = {path: keys(text) for path, text in made.items() if path.endswith("opensm.conf")}
    assert len(confs) == 9 and len({one["subnet_prefix"] for one in confs.values()}) == 9
    assert all(one["routing_engine"] == "minhop" and "root_guid_file" not in one for one in confs.values())


def test_the_page_of_a_fabric_tells_who_runs_each_subnet(files):
    lines = files("rails")["fabric/compute/README.md"].splitlines()
    assert "| compute.rail3 | `rail3/` | 0xfe80000000020000 | sm0003, sm0004 | mlx5_0 |" in lines
    assert "| compute.plane2 | `plane2/` | 0xfe80000000010000 | gpu0001, gpu0002 | mlx5_0 port 2 |" in files("two-subnets")["fabric/compute/README.md"].splitlines()
    ufm = files("gb200")["fabric/compute/README.md"]
    assert "| compute.rail4 | 0xfe80000000030000 | ufm0007, ufm0008 | mlx5_0 |" in ufm.splitlines() and "fabric_interface" in ufm
    assert not {path for path in files("gb200") if path.endswith("opensm.conf")}


@pytest.mark.parametrize(("case", "says"), [("opensm", "node by node, rail by rail"), ("dragonfly", "spread them")])
def test_the_order_of_ranks_is_told(files, case, says):
    assert says in files(case)["fabric/compute/opensm.conf"].splitlines()[1]


def test_a_fabric_of_ufm_has_no_files_of_opensm(files):
    assert not {path for path in files("one-unit") if path.endswith((".conf", ".sh"))}
