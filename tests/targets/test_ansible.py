"""The Ansible target: an inventory that is the design, data that any YAML reader takes alike, roles that never change."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import ansible
from iacgen.targets.ansible.inventory import ranges

CASES = Path(__file__).parents[1] / "cases" / "ansible"
SITES = [("superpod-h100", "hall-a"), ("lab", "lab-room"), ("two-halls", "hall-a"), ("two-halls", "hall-b")]


@cache
def project_of(blueprint, *swaps):
    """The project of a shipped blueprint or a case, with words of its text swapped."""
    path = CASES / f"{blueprint}.yaml" if (CASES / f"{blueprint}.yaml").exists() else data_folder("blueprints") / f"{blueprint}.yaml"
    text = path.read_text()
    for old, new in swaps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    state = run(text, path.name)
    assert state.project, state.findings
    return state.project


@cache
def tree_of(blueprint, *swaps):
    return ansible.render(project_of(blueprint, *swaps))


def load(tree, site, path):
    return yaml.safe_load(tree[f"ansible/{site}/inventory/{path}"])


def expand(name):
    """Ansible's numeric ranges, written anew: the width is that of the first number, the end belongs to it."""
    found = re.fullmatch(r"([a-z-]+)\[(\d+):(\d+)(?::(\d+))?\]", name)
    if not found:
        return [name]
    prefix, first, last, step = found.groups()
    return [f"{prefix}{n:0{len(first)}d}" for n in range(int(first), int(last) + 1, int(step or 1))]


def listed(node):
    """Hosts that a group lists, with repetition; groups that it names are not followed."""
    yield from (host for name in node.get("hosts") or {} for host in expand(name))
    for child in (node.get("children") or {}).values():
        yield from listed(child or {})


def members(groups, name):
    yield from (h for key in (groups[name] or {}).get("hosts") or {} for h in expand(key))
    for child, body in ((groups[name] or {}).get("children") or {}).items():
        yield from members(groups | {child: body or groups.get(child)}, child)


@pytest.mark.parametrize("blueprint, site", SITES)
def test_pools_list_every_host_once(blueprint, site):
    groups = load(tree_of(blueprint), site, "hosts.yml")["all"]["children"]
    pools = [p for p in project_of(blueprint).design.pools.values() if p.site == site]
    hosts = [h for name, body in groups.items() if name.startswith("pool_") for h in listed(body)]
    assert sorted(hosts) == sorted(h for p in pools for h in p.hosts)


@pytest.mark.parametrize("blueprint, site", SITES)
def test_no_host_is_listed_by_name_but_in_ranges(blueprint, site):
    """One line a host would hide in a review what changed: only hosts at odd distances stand alone."""
    text = tree_of(blueprint)[f"ansible/{site}/inventory/hosts.yml"]
    assert len(re.findall(r"^ +[a-z-]+\d+: null$", text, re.MULTILINE)) <= 8
    assert len(text) < 4000


def test_units_are_those_of_the_fabric():
    groups = load(tree_of("superpod-h100"), "hall-a", "hosts.yml")["all"]["children"]
    units = groups["pool_gpu"]["children"]
    assert {name: list(body["hosts"]) for name, body in units.items()} == {
        "unit_gpu_su1": ["gpu[0001:0031]"], "unit_gpu_su2": ["gpu[0032:0063]"], "unit_gpu_su3": ["gpu[0064:0095]"], "unit_gpu_su4": ["gpu[0096:0127]"],
    }  # fmt: skip


def test_every_play_names_a_group_that_every_inventory_has():
    plays = yaml.safe_load(tree_of("lab")["ansible/lab-room/site.yml"])
    wanted = {name.strip("!") for play in plays for name in play["hosts"].split(":")} - {"all"}
    for blueprint, site in SITES:
        assert wanted <= load(tree_of(blueprint), site, "hosts.yml")["all"]["children"].keys()


def test_hosts_out_of_service_are_in_the_inventory_and_in_no_play():
    tree = tree_of("two-halls")
    groups = load(tree, "hall-a", "hosts.yml")["all"]["children"]
    assert sorted(members(groups, "hosts_down")) == ["gpu-a03", "gpu-a11"]
    assert {"gpu-a03", "gpu-a11"} <= set(members(groups, "pool_gpu_a"))
    assert all(play["hosts"].endswith(":!hosts_down") for play in yaml.safe_load(tree["ansible/hall-a/site.yml"]))


def test_a_host_that_only_manages_a_fabric_mounts_nothing():
    groups = load(tree_of("two-halls"), "hall-a", "hosts.yml")["all"]["children"]
    assert set(members(groups, "lustre_clients")) == {f"gpu-a{n:02d}" for n in range(1, 21)}
    assert set(members(groups, "subnet_managers")) == {"sm0001", "sm0002"}


def test_only_own_halls_get_a_tree():
    assert {path.split("/")[1] for path in tree_of("two-halls")} == {"hall-a", "hall-b"}
    assert tree_of("aws-p5") == {}


@given(
    numbers=st.sets(st.integers(1, 400), min_size=1, max_size=80).map(sorted),
    width=st.integers(1, 6),
)
def test_ranges_come_back_as_the_same_hosts(numbers, width):
    pool = SimpleNamespace(name="gpu", width=width)
    assert [host for text in ranges(pool, numbers) for host in expand(text)] == [f"gpu{n:0{width}d}" for n in numbers]


@pytest.mark.parametrize(
    "numbers, expected",
    [
        ([7], ["gpu0007"]),
        ([1, 2], ["gpu[0001:0002]"]),
        ([1, 5], ["gpu0001", "gpu0005"]),
        ([1, 5, 9], ["gpu[0001:0009:4]"]),
        ([*range(1, 33), 40], ["gpu[0001:0032]", "gpu0040"]),
        ([9998, 9999, 10000], ["gpu[9998:10000]"]),
    ],
)
def test_ranges_read_well(numbers, expected):
    assert ranges(SimpleNamespace(name="gpu", width=4), numbers) == expected


def test_growth_renames_and_moves_nobody():
    """99, 127 and 9,999 hosts: the first ones keep their names, their addresses, and every fact of their pool."""
    trees = [tree_of("superpod-h100", ("count: 127, spares: 1", f"count: {n}"), ("count: 126", "count: 72")) for n in (99, 127)]
    for tree in trees:
        hosts = list(listed(load(tree, "hall-a", "hosts.yml")["all"]["children"]["pool_gpu"]))
        assert hosts[:99] == [f"gpu{n:04d}" for n in range(1, 100)]
    facts = [{path: text for path, text in tree.items() if "/inventory/" in path and not path.endswith(("hosts.yml", "cluster.yml"))} for tree in trees]
    assert facts[0] == facts[1]
    pools = [{p["name"]: {k: v for k, v in p.items() if k != "count"} for p in load(tree, "hall-a", "group_vars/all/cluster.yml")["cluster_pools"]} for tree in trees]
    assert pools[0] == pools[1]


def test_ten_thousand_hosts_are_a_few_lines():
    tree = tree_of("large")
    groups = load(tree, "hall", "hosts.yml")["all"]["children"]
    assert groups["pool_gpu"] == {"hosts": {"gpu[0001:9999]": None}}
    assert groups["pool_node"] == {"hosts": {"node[00001:12000]": None}}
    assert load(tree, "hall", "group_vars/all/cluster.yml")["cluster_pools"] == [
        {"name": "gpu", "width": 4, "count": 9999},
        {"name": "node", "width": 5, "count": 12000},
    ]


def test_a_tree_without_fabrics_has_no_file_of_facts_about_them():
    names = {path.rsplit("/", 1)[1] for path in tree_of("large") if "/inventory/" in path}
    assert names == {"hosts.yml", "addresses.yml", "cluster.yml", "pool_gpu.yml", "pool_node.yml", "gpu_hosts.yml"}


def test_roles_are_the_same_bytes_for_every_cluster():
    def fixed(blueprint, site):
        prefix = f"ansible/{site}/"
        return {path.removeprefix(prefix): text for path, text in tree_of(blueprint).items() if path.startswith(prefix) and not path.startswith(f"{prefix}inventory/")}

    first, *others = (fixed(blueprint, site) for blueprint, site in SITES)
    assert len(first) > 90
    assert all(other == first for other in others)


def test_the_order_of_the_blueprint_does_not_matter():
    project = project_of("two-halls")
    design = project.design
    turned = {name: dict(reversed(getattr(design, name).items())) for name in ("sites", "pools", "fabrics", "storage")}
    assert ansible.render(dataclasses.replace(project, design=dataclasses.replace(design, **turned))) == ansible.render(project)


@pytest.mark.parametrize("blueprint, site", [*SITES, ("large", "hall")])
def test_generated_files_say_so_and_carry_no_date(blueprint, site):
    for path, text in tree_of(blueprint).items():
        if path.startswith(f"ansible/{site}/inventory/") and not path.endswith("addresses.yml"):
            assert text.startswith("---\n# Generated by iacgen. Do not edit: change the blueprint.\n"), path
            assert text.endswith("\n") and not text.endswith("\n\n")
            assert not re.search(r"20\d\d-\d\d-\d\d", text)


def test_nobody_logs_in_on_the_servers_of_a_cache():
    """A pool without another duty is for logins; one that keeps data of jobs has a duty."""
    more = ("  ctl: {site: lab-room, system: generic-1u, count: 1}\n", "  ctl: {site: lab-room, system: generic-1u, count: 1}\n  keep: {site: lab-room, system: generic-1u, count: 1}\n")
    ports = ("connects: [gpu, ctl]", "connects: [gpu, ctl, keep]")
    told = ("    zero: 3\n", "    zero: 3\n    input: {cache: {kind: redis, servers: keep}}\n")
    logins = lambda *swaps: load(tree_of("lab", more, ports, *swaps), "lab-room", "hosts.yml")["all"]["children"]["slurm_logins"].get("children") or {}  # noqa: E731
    assert set(logins()) == {"pool_keep"}
    assert set(logins(told)) == set()
