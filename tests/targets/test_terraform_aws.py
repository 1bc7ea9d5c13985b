"""The AWS root: fixed text for everybody, and variables that follow from the blueprint."""

from __future__ import annotations

import ipaddress
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog, pipeline
from iacgen.paths import data_folder
from iacgen.targets import terraform_aws

P5 = (data_folder("blueprints") / "aws-p5.yaml").read_text()
TEMPLATES = data_folder("templates") / "terraform" / "aws"


def tree(blueprint=P5):
    state = pipeline.run(blueprint, "aws-p5.yaml")
    assert state.project, state.findings
    return terraform_aws.render(state.project)


def variables(blueprint=P5, site="ohio"):
    return json.loads(tree(blueprint)[f"terraform/{site}/terraform.tfvars.json"])


def test_everybody_gets_the_same_text():
    fixed = {path.relative_to(TEMPLATES).as_posix(): path.read_bytes() for path in TEMPLATES.rglob("*") if path.is_file()}
    generated = {path.removeprefix("terraform/ohio/"): text.encode() for path, text in tree().items()}
    assert generated.pop("terraform.tfvars.json")
    assert generated == fixed
    assert {".gitignore", "nodes.tf", "tests/nodes.tftest.hcl", "boot/setup.sh"} <= set(fixed)


def test_the_variables_are_those_of_the_blueprint():
    assert variables() == {
        "cluster": "aws-p5",
        "site": "ohio",
        "domain": "aws-p5.internal",
        "region": "us-east-2",
        "zone": "us-east-2a",
        "vpc_cidr": "10.64.0.0/16",
        "private_cidr": "10.64.0.0/17",
        "public_cidr": "10.64.255.0/24",
        "admin_cidrs": [],
        "slurm_version": "24.11",
        "heads": {"head0001": "m7i.4xlarge"},
        "pools": {
            "gpu": {
                "instance_type": "p5.48xlarge",
                "nodes": [f"gpu{n:04d}" for n in range(1, 17)],
                "network_cards": 32,
                "efa_interfaces": 32,
                "runs_jobs": True,
                "purchase": "capacity-block",
                "reservation_id": "cr-0a1b2c3d4e5f67890",
            }
        },
        "file_systems": {"fsx": {"capacity_gib": 48000, "throughput": 250, "mount": "/fsx", "repository": "checkpoints"}},
        "buckets": {"checkpoints": {"prefix": "aws-p5-checkpoints"}},
    }


def test_the_image_is_the_operators():
    assert "ami" not in variables()
    declared = (TEMPLATES / "variables.tf").read_text().split('variable "ami"')[1].split("\nvariable ")[0]
    assert "default" not in declared


def test_a_larger_pool_renames_nobody():
    larger = P5.replace("count: 16", "count: 17").replace("global_batch: 128", "global_batch: 136")
    small, large = tree(), tree(larger)
    assert {path for path in small if small[path] != large[path]} == {"terraform/ohio/terraform.tfvars.json"}
    before, after = variables(), variables(larger)
    assert after["pools"]["gpu"]["nodes"] == [*before["pools"]["gpu"]["nodes"], "gpu0017"]


def test_a_cluster_without_aws_gets_nothing():
    assert tree((data_folder("blueprints") / "lab.yaml").read_text()) == {}


def test_a_pool_outside_every_queue_runs_no_jobs():
    with_login = P5.replace("storage:\n", "  login: {site: ohio, system: m7i.4xlarge, count: 2}\n\nstorage:\n", 1)
    pool = variables(with_login)["pools"]["login"]
    assert pool["runs_jobs"] is False
    assert pool["nodes"] == ["login0001", "login0002"]
    assert (pool["purchase"], pool["reservation_id"], pool["efa_interfaces"]) == ("on-demand", None, 0)


def test_a_purchase_and_a_group_are_those_of_the_blueprint():
    block = "capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}"
    spot = variables(P5.replace(block, "capacity: {kind: spot}"))["pools"]["gpu"]
    assert (spot["purchase"], spot["reservation_id"]) == ("spot", None)
    assert "placement_group" not in spot, "left to the root where nobody chose"
    apart = variables(P5.replace(block, "placement_group: false"))["pools"]["gpu"]
    assert (apart["purchase"], apart["placement_group"]) == ("on-demand", False)


EXISTING = "existing: {vpc: vpc-0a1b2c3d4e5f67890, subnet: subnet-0a1b2c3d4e5f67890, addresses: 10.64.8.0/22}"


def test_a_network_and_a_group_of_the_account_are_used():
    plain = variables()
    assert not {"existing_network", "security_group_id", "member_ports"} & set(plain)
    moved = variables(P5.replace("zone: us-east-2a}", f"zone: us-east-2a, {EXISTING}, security_group: {{id: sg-0a1b2c3d4e5f67890, members: [all]}}}}"))
    assert {k: v for k, v in moved.items() if plain.get(k, ...) != v} == {
        "existing_network": {"vpc_id": "vpc-0a1b2c3d4e5f67890", "subnet_id": "subnet-0a1b2c3d4e5f67890"},
        "security_group_id": "sg-0a1b2c3d4e5f67890",
        "private_cidr": "10.64.8.0/22",
        "public_cidr": None,
    }


def test_ports_among_the_machines_are_those_of_the_blueprint():
    some = P5.replace("zone: us-east-2a}", "zone: us-east-2a, security_group: {members: [988, 1018-1023, 6817-6818, 32768-60999]}}").replace("capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}", "efa: 0")
    ports = variables(some)["member_ports"]
    assert [(p["from"], p["to"]) for p in ports] == [(988, 988), (1018, 1023), (6817, 6818), (32768, 60999)]


@pytest.mark.parametrize("efa", [0, 16, 32])
def test_efa_is_what_the_blueprint_takes(efa):
    pool = variables(P5.replace("count: 16", f"count: 16\n    efa: {efa}"))["pools"]["gpu"]
    assert (pool["efa_interfaces"], pool["network_cards"]) == (efa, 32)
    assert pool.get("efa_cards") == (None if efa == 32 else 32), "said only where it is not the same"


def test_without_efa_nccl_is_told_nothing_of_efa():
    state = pipeline.run(P5.replace("count: 16", "count: 16\n    efa: 0"), "x.yaml")
    tree = pipeline.tree(state)
    assert state.project.design.fabrics["gpu-efa"].technology == "ethernet"
    assert "EFA" not in tree["nccl/nccl.conf"] and re.search(r"^NCCL_SOCKET_IFNAME=\^(.*,)?docker,", tree["nccl/nccl.conf"], re.MULTILINE)


def test_lustre_ports_in_the_root_are_the_catalogs():
    """Two places on purpose: the root also refuses variables that were edited by hand."""
    ports = [port for range_ in catalog.cloud("aws").fsx_lustre.ports for port in range(range_.first, range_.last + 1)]
    assert ports == [988, *range(1018, 1024)]
    assert "lustre_ports = concat([988], range(1018, 1024))" in (TEMPLATES / "locals.tf").read_text()


def test_the_check_of_addresses_counts_as_the_root_does():
    """Two places on purpose: the root also refuses variables that were edited by hand."""
    root = (TEMPLATES / "locals.tf").read_text()
    assert "1 + ceil(fs.capacity_gib / 1200)" in root and '- 5\n' in root
    full, over = (P5.replace("zone: us-east-2a}", "zone: us-east-2a, network: 10.64.0.0/25}").replace("count: 16", f"count: {n}").replace("global_batch: 128", f"global_batch: {n * 8}") for n in (17, 18))
    private = ipaddress.IPv4Network(variables(full)["private_cidr"])
    assert 17 + 1 + 1 + 48000 // 1200 == private.num_addresses - 5
    assert [f.id for f in pipeline.run(over, "x.yaml").findings if f.severity == "error"] == ["IAC230"]


def test_a_bucket_prefix_of_ones_own_is_kept():
    mine = P5.replace("checkpoints: {kind: s3, site: ohio}", "checkpoints: {kind: s3, site: ohio, bucket_prefix: team-weights}")
    assert variables(mine)["buckets"] == {"checkpoints": {"prefix": "team-weights"}}


@given(st.integers(16, 26), st.integers(0, 2**32 - 1))
def test_subnets_lie_apart_inside_the_network(prefix, address):
    whole = ipaddress.IPv4Network((address >> (32 - prefix) << (32 - prefix), prefix))
    private, public = map(ipaddress.IPv4Network, terraform_aws.subnets(str(whole)))
    assert private.subnet_of(whole) and public.subnet_of(whole) and not private.overlaps(public)
    assert private.num_addresses * 2 == whole.num_addresses
    assert 16 <= public.num_addresses <= 256


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.tf*")), ids=lambda p: p.name)
def test_the_text_is_neutral(path):
    """No account, no place of ours: a backend, credentials and a lock file are the operator's."""
    text = path.read_text()
    for word in ("backend", "provider_installation", "endpoints", "access_key", "secret_key", "registry.terraform.io", "module \""):
        assert word not in text, word
    assert not re.search(r'source\s*=\s*"[a-z0-9-]+/[a-z0-9-]+/', text), "a module of a registry"
    assert not re.search(r'"/(home|root|opt/tf|usr|work|tmp)', text)
    assert set(re.findall(r"\b\d{12}\b", text)) <= {"123456789012", "000000000000"}, "an account"


def test_nothing_of_a_run_is_shipped():
    names = [path.rsplit("/", 1)[1] for path in tree()]
    for name in names:
        assert not re.search(r"(_override\.tf(\.json)?|\.tfstate.*|\.terraform\.lock\.hcl|tfplan)$", name)


def test_interface_counts_in_the_root_are_the_catalogs():
    """Two places on purpose: the root also refuses variables that were edited by hand."""
    table = dict(re.findall(r'"([a-z0-9-]+\.[0-9a-z]+)"\s*= \["(\d+ of \d+)"\]', (TEMPLATES / "variables-pools.tf").read_text()))
    known = {name: system.cloud for name in catalog.cloud("aws").machine_types if (system := catalog.system(name)).cloud.efa_interfaces}
    assert known
    for name, cloud in known.items():
        assert table[name] == f"{cloud.efa_interfaces} of {cloud.network_cards}"


def test_data_is_guarded():
    text = "\n".join(file.read_text() for file in TEMPLATES.glob("*.tf"))
    for resource in ('"aws_fsx_lustre_file_system" "data"', '"aws_s3_bucket" "data"', '"aws_kms_key" "main"'):
        block = text.split(f"resource {resource}")[1].split("\n}\n")[0]
        assert "prevent_destroy = true" in block
