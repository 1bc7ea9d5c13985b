"""What the inventory tells the roles: addresses, fabrics, Lustre targets; and what it must never tell."""

from __future__ import annotations

import dataclasses
import ipaddress
import math
import re
from collections import Counter
from functools import cache
from pathlib import Path

import jinja2
import pytest
import yaml

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.render import UnrepresentableValue
from iacgen.targets import ansible, fabric
from iacgen.targets.ansible.lustre import mount_unit, objects_per_server

CASES = Path(__file__).parents[1] / "cases" / "ansible"
STATIC = data_folder("templates") / "ansible" / "static"
SITES = [("superpod-h100", "hall-a"), ("lab", "lab-room"), ("two-halls", "hall-a"), ("two-halls", "hall-b")]
PEBIBYTE = 2**50


@cache
def project_of(blueprint, *swaps):
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


def load(blueprint, site, name, *swaps):
    return yaml.safe_load(tree_of(blueprint, *swaps)[f"ansible/{site}/inventory/group_vars/{name}.yml"])


class Undefined(jinja2.StrictUndefined):
    """As Ansible's: looking deeper into what is not defined is no error yet, printing it is."""

    def __getitem__(self, key):
        return self


def rendered(role, template, **words):
    """A role's template as Ansible renders it: trim_blocks on, the playbook's templates beside the role's."""
    loader = jinja2.FileSystemLoader([STATIC / "roles" / role / "templates", STATIC / "templates"])
    environment = jinja2.Environment(loader=loader, trim_blocks=True, undefined=Undefined)
    environment.filters["quote"] = lambda text: text
    return environment.get_template(template).render(**words)


# --- addresses


@pytest.mark.parametrize("blueprint, site", SITES)
def test_the_hosts_file_is_the_design(blueprint, site):
    """The role counts from one address a pool; every line must be what the design says."""
    facts, design = load(blueprint, site, "all/cluster"), project_of(blueprint).design
    lines = [line.split() for line in rendered("base", "hosts.j2", **facts).splitlines() if line.strip()]
    planned = [h for p in design.pools.values() for h in p.hosts if design.address(h)]
    assert {host: address for address, host, _ in lines} == {h: str(design.address(h)) for h in planned}
    assert len(lines) == len(planned)
    assert {full for _, _, full in lines} == {f"{h}.{design.sites[site].domain}" for h in planned}


def test_the_hosts_file_counts_over_the_end_of_a_byte():
    pools = [{"name": "gpu", "width": 4, "count": 700, "address": "10.255.254.250"}, {"name": "unplanned", "width": 2, "count": 3}]
    lines = rendered("base", "hosts.j2", cluster_pools=pools, base_domain="").splitlines()
    expected = [f"{ipaddress.IPv4Address('10.255.254.250') + i} gpu{i + 1:04d}" for i in range(700)]
    assert [line.strip() for line in lines if line.strip()] == expected
    assert "11.0.0.0 gpu0263" in expected


@pytest.mark.parametrize(
    "blueprint, site, pool, role, key, purpose",
    [
        ("superpod-h100", "hall-a", "gpu", "ib_host", "ib_host_with_address", "storage"),
        ("superpod-h100", "hall-a", "oss", "ib_host", "ib_host_with_address", "storage"),
        ("lab", "lab-room", "gpu", "roce_host", "roce_host_ports", "compute"),
    ],
)
def test_a_port_gets_the_address_of_the_design(blueprint, site, pool, role, key, purpose):
    design = project_of(blueprint).design
    ports = load(blueprint, site, f"pool_{pool}")[f"{role}_ports"]
    with_address = [port for port in ports if "address" in port]
    for index in (0, 1, design.pools[pool].count - 1):
        text = rendered(role, "netplan.yaml.j2", **{key: with_address}, cluster_index=str(index), ib_host_mtu=4092, roce_host_mtu=9000)
        ethernets = yaml.safe_load(text)["network"]["ethernets"]
        names = design.pools[pool].system.nics[purpose].interfaces
        assert list(ethernets) == list(names)
        for rail, name in enumerate(names):
            host = design.pools[pool].host(index)
            assert ethernets[name]["addresses"] == [f"{design.address(host, purpose, rail)}/{12}"]


def test_infiniband_without_lustre_needs_no_addresses():
    ports = load("superpod-h100", "hall-a", "pool_gpu")["ib_host_ports"]
    assert [port["fabric"] for port in ports] == ["compute"] * 8 + ["storage"] * 2
    assert not any("address" in port for port in ports[:8])
    assert [port["rdma"] for port in ports[:2]] == ["mlx5_0", "mlx5_3"]


def test_a_server_with_unknown_device_names_says_nothing_about_them():
    ports = load("superpod-h100", "hall-a", "pool_gpu", ("system: dgx-h100", "system: dgx-b200"), ("capacity: 1600kW", "capacity: 2MW"), ("capacity: 1500kW", "capacity: 2MW"))["ib_host_ports"]
    assert all("interface" not in port and "rdma" in port for port in ports)


def test_a_manager_that_the_fabric_does_not_connect_has_a_port_on_it():
    """It gets the modules and the RDMA stack as every InfiniBand host does, and no address, which OpenSM does not need."""
    swap = ("manager: {kind: ufm, pool: ufm}", "manager: {kind: opensm, pool: ufm}")
    assert load("superpod-h100", "hall-a", "pool_ufm", swap)["ib_host_ports"] == [{"fabric": "compute", "rdma": "mlx5_0", "interface": "ib0"}]
    assert "ib_host_ports" not in load("superpod-h100", "hall-a", "pool_ufm")
    fabrics = load("superpod-h100", "hall-a", "subnet_managers", swap)["opensm_fabrics"]
    assert {f["name"]: f["managers"] for f in fabrics} == {"compute": ["ufm0001", "ufm0002"], "storage": ["mds0001", "mds0002"]}
    assert not any(f["shares_hosts"] for f in fabrics)
    groups = yaml.safe_load(tree_of("superpod-h100", swap)["ansible/hall-a/inventory/hosts.yml"])["all"]["children"]
    assert "pool_ufm" in groups["ib_hosts"]["children"] and "pool_ufm" in groups["rdma_hosts"]["children"]
    assert groups["subnet_managers"]["hosts"].keys() == {"mds[0001:0002]", "ufm[0001:0002]"}


# --- fabrics


def settings_of(blueprint, host, network, port_guids=(), swaps=()):
    """opensm.conf on a manager: the fabric's own file behind what differs between managers."""
    files = fabric.render(project_of(blueprint, *swaps))
    (item,) = (f for f in load(blueprint, "hall-a", "subnet_managers", *swaps)["opensm_fabrics"] if f["name"] == network)
    words = {"lookup": lambda plugin, path: files[path].rstrip(), "opensm_source": "fabric", "opensm_port_guids": dict(port_guids), "opensm_port_read": {}, "opensm_first_priority": 14}
    return item, rendered("opensm", "opensm.conf.j2", item=item, inventory_hostname=host, **words)


def test_managers_of_one_fabric_have_different_priorities_and_all_else_alike():
    (item, master), (_, standby) = (settings_of("superpod-h100", host, "storage") for host in ("mds0001", "mds0002"))
    assert item["managers"] == ["mds0001", "mds0002"]
    assert "\nrouting_engine ftree,no_fallback\n" in master
    assert "sm_priority 14\n" in master
    assert "sm_priority 13\n" in standby
    assert master.replace("sm_priority 14", "sm_priority 13") == standby


def test_a_manager_with_ports_on_two_fabrics_must_be_told_its_port():
    """OpenSM would bind to the first active port, which may be that of the other fabric."""
    connected = ("manager: {kind: ufm, pool: ufm}", "manager: {kind: opensm, pool: login}")
    assert {f["name"]: f["shares_hosts"] for f in load("superpod-h100", "hall-a", "subnet_managers", connected)["opensm_fabrics"]} == {"compute": True, "storage": False}
    assert all(f["shares_hosts"] for f in load("two-halls", "hall-a", "subnet_managers")["opensm_fabrics"])


def test_a_manager_is_told_its_port():
    _, text = settings_of("superpod-h100", "mds0001", "storage", {"storage": {"mds0001": "0x0c42a10300a1b2c3"}})
    assert "\nguid 0x0c42a10300a1b2c3\n" in text
    assert "\nroot_guid_file /etc/opensm/storage-root-guids\n" in text


def of_case(name):
    state = run((CASES.parent / f"fabric/{name}.yaml").read_text(), name)
    assert state.project, state.findings
    return state.project


@pytest.mark.parametrize(("case", "subnets", "last"), [("rails", 8, ("rail8", ["sm0007", "sm0008"], "mlx5_1", 1)), ("two-subnets", 2, ("plane2", ["gpu0001", "gpu0002"], "mlx5_0", 2))])
def test_each_subnet_has_an_instance_and_its_device(case, subnets, last):
    """The role reads the port's GUID by its device, and takes the files of that subnet's folder."""
    made = ansible.render(of_case(case))
    found = yaml.safe_load(made["ansible/h/inventory/group_vars/subnet_managers.yml"])["opensm_fabrics"]
    part, managers, device, port = last
    assert len(found) == subnets and all(item["shares_hosts"] for item in found)
    assert found[-1] == {"name": f"compute.{part}", "folder": f"compute/{part}", "managers": managers, "shares_hosts": True, "device": device, "port": port}
    written = fabric.render(of_case(case))
    assert all(f"fabric/{item['folder']}/{name}" in written for item in found for name in ("opensm.conf", "partitions.conf", "plan.csv", "guids.sh"))


def test_an_instance_binds_to_the_port_of_its_device():
    made = fabric.render(of_case("rails"))
    (item,) = (one for one in yaml.safe_load(ansible.render(of_case("rails"))["ansible/h/inventory/group_vars/subnet_managers.yml"])["opensm_fabrics"] if one["name"] == "compute.rail4")
    words = {"lookup": lambda plugin, path: made[path].rstrip(), "opensm_source": "fabric", "opensm_port_guids": {}, "opensm_first_priority": 14}
    text = rendered("opensm", "opensm.conf.j2", item=item, inventory_hostname="sm0004", opensm_port_read={"compute.rail4": "0x0c42a10300a1b2c3"}, **words)
    assert "\nguid 0x0c42a10300a1b2c3\n" in text and "sm_priority 13\n" in text and "\nsubnet_prefix 0xfe80000000030000\n" in text


def test_ufm_is_named_and_left_alone():
    text = tree_of("superpod-h100")["ansible/hall-a/inventory/group_vars/subnet_managers.yml"]
    assert "Fabric compute is managed by UFM" in text
    assert "compute" not in [f["name"] for f in yaml.safe_load(text)["opensm_fabrics"]]


def test_the_lossless_class_is_one_for_host_and_lustre():
    classes = load("two-halls", "hall-b", "roce_hosts")["roce_host_classes"]
    assert classes["compute-b"] == {"dscp": 24, "priority": 2, "cnp_dscp": 48, "cnp_priority": 6}
    for pool in ("gpu_b", "oss_b", "mds_b"):
        (network,) = load("two-halls", "hall-b", f"pool_{pool}")["lnet_networks"]
        assert (network["net"], network["type_of_service"]) == ("o2ib", classes["storage-b"]["dscp"] * 4 + 2)


def test_the_roce_script_sets_every_port_to_its_class():
    fixed = yaml.safe_load((STATIC / "roles/roce_host/vars/main.yml").read_text())
    ports = load("two-halls", "hall-b", "pool_gpu_b")["roce_host_ports"][:8]
    text = rendered("roce_host", "roce-lossless.sh.j2", roce_host_ports=ports, **fixed, **load("two-halls", "hall-b", "roce_hosts"))
    assert [line for line in text.splitlines() if line.startswith("lossless ")] == [
        f"lossless rail{i} mlx5_{i} 0,0,1,0,0,0,0,0 98 2 48 6" for i in range(8)
    ]  # fmt: skip


# --- Lustre


def targets(blueprint, site, *swaps):
    return load(blueprint, site, "lustre_servers", *swaps)["lustre_server_targets"]


@pytest.mark.parametrize("blueprint, site, metadata, objects", [("superpod-h100", "hall-a", 2, 16), ("two-halls", "hall-a", 2, 12), ("two-halls", "hall-b", 1, 4)])
def test_every_index_is_there_once(blueprint, site, metadata, objects):
    found = targets(blueprint, site)
    indexes = {kind: [a for t in found if f"--{kind}" in t["arguments"] for a in t["arguments"] if a.startswith("--index=")] for kind in ("mdt", "ost")}
    assert indexes == {"mdt": [f"--index={i}" for i in range(metadata)], "ost": [f"--index={i}" for i in range(objects)]}
    assert len({t["label"] for t in found}) == len({t["device"] for t in found}) == metadata + objects
    for target in found:
        index = next(a for a in target["arguments"] if a.startswith("--index=")).removeprefix("--index=")
        assert re.fullmatch(rf"[-_a-zA-Z0-9]{{1,8}}-(MDT|OST){int(index):04x}", target["label"])


@pytest.mark.parametrize("blueprint, site, pool", [("superpod-h100", "hall-a", "storage"), ("two-halls", "hall-a", "storage"), ("two-halls", "hall-b", "storage")])
def test_servers_are_pairs_with_every_address_they_have(blueprint, site, pool):
    design = project_of(blueprint).design
    for target in targets(blueprint, site):
        expected = [f"--servicenode={','.join(f'{design.address(host, pool, rail)}@o2ib' for rail in range(2))}" for host in target["hosts"]]
        assert [a for a in target["arguments"] if a.startswith("--servicenode")] == expected
        assert "--reformat" not in target["arguments"]
        assert len(set(target["hosts"])) == len(target["hosts"]) <= 2
    served = Counter(t["hosts"][0] for t in targets(blueprint, site))
    assert len(set(served.values())) <= 2


def test_one_management_target_and_everybody_finds_it():
    found = targets("superpod-h100", "hall-a")
    assert [t["label"] for t in found if "--mgs" in t["arguments"]] == ["scratch-MDT0000"]
    address = [str(project_of("superpod-h100").design.address(host, "storage")) for host in ("mds0001", "mds0002")]
    nodes = f"--mgsnode={address[0]}@o2ib:{address[1]}@o2ib"
    assert all(nodes in t["arguments"] for t in found if "--mgs" not in t["arguments"])
    (mount,) = load("superpod-h100", "hall-a", "pool_login")["lustre_client_mounts"]
    assert mount == {"fsname": "scratch", "source": f"{address[0]}@o2ib:{address[1]}@o2ib:/scratch", "mount": "/scratch", "unit": "scratch.mount"}


def test_file_systems_on_two_fabrics_have_two_networks():
    """A host on both must know which of its interfaces lead to which servers."""
    home = "home: {kind: lustre, site: hall-a, servers: oss-h, metadata: mds-h, fabric: home, capacity: 1PB, read: 1GB/s, write: 1GB/s, mount: /project, clients: [login]}"
    nodes = "oss-h: {site: hall-a, system: lustre-oss, count: 2}\n  mds-h: {site: hall-a, system: lustre-mds, count: 2}\n  work: {site: hall-a, system: generic-1u, count: 2}"
    fabric = "home: {site: hall-a, purpose: storage, connects: [oss-h, mds-h, login], technology: infiniband, switch: qm9700, subnet: 10.96.0.0/12, manager: {kind: opensm, pool: mds-h}}"
    swaps = (
        ("storage:\n  scratch:", f"storage:\n  {home}\n  scratch:"), ("  login: {", f"  {nodes}\n  login: {{"), ("fabrics:\n", f"fabrics:\n  {fabric}\n"),
        ("oss, mds, login]", "oss, mds, work]"), ("clients: [gpu, login]", "clients: [gpu, work]"), ("mds, ctl, login, ufm]", "mds, ctl, login, ufm, oss-h, mds-h, work]"),
    )  # fmt: skip
    nets = {pool: [n["net"] for n in load("superpod-h100", "hall-a", f"pool_{pool}", *swaps)["lnet_networks"]] for pool in ("gpu", "work", "login", "oss", "oss_h", "mds_h")}
    assert nets == {"gpu": ["o2ib1"], "work": ["o2ib1"], "login": ["o2ib"], "oss": ["o2ib1"], "oss_h": ["o2ib"], "mds_h": ["o2ib"]}
    mounts = {pool: [m["mount"] for m in load("superpod-h100", "hall-a", f"pool_{pool}", *swaps)["lustre_client_mounts"]] for pool in ("gpu", "login")}
    assert mounts == {"gpu": ["/scratch"], "login": ["/project"]}
    service = {t["label"]: {a.rpartition("@")[2] for a in t["arguments"] if a.startswith("--servicenode")} for t in targets("superpod-h100", "hall-a", *swaps)}
    assert service["home-MDT0000"] == {"o2ib"} and service["scratch-MDT0000"] == {"o2ib1"}


def test_a_client_of_both_has_both_networks():
    networks = [{"net": "o2ib", "interfaces": ["ib0"], "type_of_service": 106}, {"net": "o2ib1", "interfaces": ["ib2", "ib3"]}]
    words = {"lnet_peer_credits": 32, "lnet_credits": 1024, "lnet_connections_per_peer": 4, "lnet_concurrent_sends": 64}
    loader = jinja2.FileSystemLoader(STATIC / "roles/lnet/templates")
    environment = jinja2.Environment(loader=loader, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.tests["match"] = lambda text, pattern: bool(re.match(pattern, text))
    written = yaml.safe_load(environment.get_template("lnet.conf.j2").render(lnet_networks=networks, **words))["net"]
    assert [(n["net type"], [i["interfaces"][0] for i in n["local NI(s)"]]) for n in written] == [("o2ib", ["ib0"]), ("o2ib1", ["ib2", "ib3"])]
    assert [i["lnd tunables"].get("tos") for n in written for i in n["local NI(s)"]] == [106, None, None]


def test_more_servers_move_no_target():
    """The index of an OST is for ever: two more servers add theirs at the end."""
    before = targets("superpod-h100", "hall-a")
    after = targets("superpod-h100", "hall-a", ("system: lustre-oss, count: 8", "system: lustre-oss, count: 10"))
    assert after[: len(before)] == before
    assert len(after) == len(before) + 4


def test_more_capacity_moves_no_target():
    assert targets("superpod-h100", "hall-a", ("capacity: 10PB", "capacity: 17PB")) == targets("superpod-h100", "hall-a")


def test_no_object_target_is_larger_than_lustre_allows():
    lustre = project_of("superpod-h100").design.storage["scratch"]
    for capacity, expected in ((1, 2), (16 * PEBIBYTE, 2), (16 * PEBIBYTE + 1, 4), (100 * PEBIBYTE, 16)):
        assert objects_per_server(dataclasses.replace(lustre, capacity_bytes=capacity)) == expected


def test_the_server_without_a_partner_stands_alone():
    assert {tuple(t["hosts"]) for t in targets("two-halls", "hall-a") if "--ost" in t["arguments"]} == {("oss0001", "oss0002"), ("oss0002", "oss0001"), ("oss0003",)}


@pytest.mark.parametrize(
    "path, unit",
    [
        ("/scratch", "scratch.mount"),
        ("/mnt/scratch", "mnt-scratch.mount"),
        ("/mnt/fast-data", "mnt-fast\\x2ddata.mount"),
        ("/tmp/waldi/foobar/", "tmp-waldi-foobar.mount"),  # systemd-escape(1)
        ("/.hidden/a.b_c", "\\x2ehidden-a.b_c.mount"),
        ("/lustre/fl_ash-OST000a", "lustre-fl_ash\\x2dOST000a.mount"),
    ],
)
def test_mount_units_are_named_as_systemd_wants(path, unit):
    assert mount_unit(path) == unit


# --- text that others take for something else


@pytest.mark.parametrize("blueprint, site", SITES)
def test_versions_addresses_and_guids_stay_text(blueprint, site):
    def walk(value):
        if isinstance(value, dict):
            for item in value.values():
                yield from walk(item)
        elif isinstance(value, list):
            for item in value:
                yield from walk(item)
        else:
            yield value

    for path, text in tree_of(blueprint).items():
        if path.startswith(f"ansible/{site}/inventory/group_vars/") and not path.endswith("addresses.yml"):
            values = list(walk(yaml.safe_load(text)))
            assert all(type(v) in (str, int, bool) for v in values), path
            assert not [v for v in values if isinstance(v, int) and v > 2**32]
    assert yaml.safe_load(tree_of(blueprint)[f"ansible/{site}/inventory/group_vars/slurm_hosts.yml"])["slurm_version"] in ("22.05", "24.11")


@pytest.mark.parametrize("evil", ["{{ lookup('pipe', 'id') }}", "{% set x = 1 %}x", "{# gone #}kept", "a{{b"])
def test_what_ansible_would_evaluate_never_gets_into_the_tree(evil):
    project = project_of("superpod-h100")
    design = project.design
    lustre = design.storage["scratch"]
    hostile = [
        {"software": dataclasses.replace(design.software, time_servers=(evil,))},
        {"software": dataclasses.replace(design.software, driver=evil)},
        {"sites": {"hall-a": dataclasses.replace(design.sites["hall-a"], domain=evil)}},
        {"storage": {"scratch": dataclasses.replace(lustre, mount=evil)}},
        {"storage": {"scratch": dataclasses.replace(lustre, fsname=evil)}},
        {"scheduler": dataclasses.replace(design.scheduler, version=evil)},
    ]
    for changes in hostile:
        with pytest.raises(UnrepresentableValue):
            ansible.render(dataclasses.replace(project, design=dataclasses.replace(design, **changes)))


# --- secrets


def entropy(text):
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())


@pytest.mark.parametrize("blueprint", ["superpod-h100", "lab", "two-halls"])
def test_no_secret_is_ever_written(blueprint):
    for path, text in tree_of(blueprint).items():
        assert "PRIVATE KEY" not in text, path
        words = re.findall(r"[A-Za-z0-9+/=]{32,}", text)
        assert not [word for word in words if entropy(word) > 4.5], path


def test_the_munge_key_is_a_reference():
    defaults = tree_of("lab")["ansible/lab-room/roles/munge/defaults/main.yml"]
    assert "vault_munge_key_b64 | default(lookup('ansible.builtin.env', 'IACGEN_MUNGE_KEY_B64'))" in defaults
    writing = next(t for t in yaml.safe_load(tree_of("lab")["ansible/lab-room/roles/munge/tasks/main.yml"]) if t["name"] == "Write the key")
    assert writing["no_log"] is True
    assert writing["ansible.builtin.copy"]["mode"] == "0400"
