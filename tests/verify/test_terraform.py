"""The Terraform judge: accepts what is generated, and fails on every kind of fault that it is there to see."""

from __future__ import annotations

import json
import shutil

import pytest

from iacgen import pipeline
from iacgen.paths import data_folder
from iacgen.targets import terraform_aws
from iacgen.verify import terraform
from iacgen.verify.terraform_plan import differences

@pytest.fixture(scope="module")
def project():
    state = pipeline.run((data_folder("blueprints") / "aws-p5.yaml").read_text(), "aws-p5.yaml")
    assert state.project, state.findings
    return state.project


@pytest.fixture(scope="module")
def generated(project, tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    for path, text in terraform_aws.render(project).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "slurm").mkdir()
    (folder / "slurm" / "slurm.conf").write_text("ClusterName=aws-p5\n")
    return folder


@pytest.fixture
def tree(generated, tmp_path):
    """A tree to spoil."""
    return shutil.copytree(generated, tmp_path / "tree")


def replace(tree, name, old, new):
    file = tree / "terraform" / "ohio" / name
    text = file.read_text()
    assert text.count(old) == 1, f"{name} holds {old!r} {text.count(old)} times"
    file.write_text(text.replace(old, new))


def set_variables(tree, change):
    file = tree / "terraform" / "ohio" / "terraform.tfvars.json"
    values = json.loads(file.read_text())
    change(values)
    file.write_text(json.dumps(values))


@pytest.mark.judge("terraform")
@pytest.mark.xdist_group("terraform")
def test_a_generated_tree_passes(generated, project):
    before = sorted(generated.rglob("*"))
    verdict = terraform.verify(generated, project)
    assert verdict.findings == ()
    assert (verdict.judge, verdict.status) == ("terraform", "passed")
    assert verdict.version.startswith("1.")
    assert sorted(generated.rglob("*")) == before, "a judge writes nothing into the tree"


BLOCK = "    capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}\n"
BUCKET = "  checkpoints: {kind: s3, site: ohio}\n"
FSX = "  fsx: {kind: fsx-lustre, site: ohio, capacity: 48000GiB, throughput_mbps_per_tib: 250, mount: /fsx, exports_to: checkpoints}\n"

EXISTING = """zone: us-east-2a, network: 10.64.0.0/16, security_group: {id: sg-0a1b2c3d4e5f67890, members: [all]},
         existing: {vpc: vpc-0a1b2c3d4e5f67890, subnet: subnet-0a1b2c3d4e5f67890, addresses: 10.64.8.0/22}}"""

# What a root may lack, two ways: edits of the shipped blueprint that take it away. A root's own tests must hold there, too.
LACKING = {
    "no bucket, on demand": [(BUCKET, ""), (", exports_to: checkpoints", ""), (BLOCK, "")],
    "no file system, no scheduler, reserved": [
        (FSX, ""),
        ("    checkpoint: {to: fsx, target: 2min}\n", ""),
        ("  head: {site: ohio, system: m7i.4xlarge, count: 1}\n", ""),
        ('scheduler: {kind: slurm, version: "24.11", controllers: head}\n', ""),
        ("capacity-block", "capacity-reservation"),
    ],
    "a network and a group of the account": [("zone: us-east-2a}", EXISTING)],
    "a group of its own in a network of the account, half of EFA": [
        ("zone: us-east-2a}", EXISTING.replace("security_group: {id: sg-0a1b2c3d4e5f67890, members: [all]}, ", "")),
        (BLOCK, "    efa: 16\n"),
    ],
    "no EFA, ports of Lustre and Slurm": [
        ("zone: us-east-2a}", "zone: us-east-2a, security_group: {members: [988, 1018-1023, 6817-6818, 32768-60999]}}"),
        (BLOCK, "    efa: 0\n"),
    ],
}



@pytest.mark.judge("terraform")
@pytest.mark.xdist_group("terraform")
@pytest.mark.parametrize("edits", LACKING.values(), ids=LACKING)
def test_a_root_that_lacks_something_passes(edits, tmp_path):
    text = (data_folder("blueprints") / "aws-p5.yaml").read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    state = pipeline.run(text, "aws-p5.yaml")
    assert state.project, state.findings
    for path, content in pipeline.tree(state).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    verdict = terraform.verify(tmp_path, state.project)
    assert (verdict.status, verdict.findings) == ("passed", ())


def drop_argument(tree):
    replace(tree, "network.tf", "  vpc_id            = aws_vpc.main[0].id\n  availability_zone = var.zone\n  cidr_block        = var.public_cidr\n", "  availability_zone = var.zone\n  cidr_block        = var.public_cidr\n")


def open_to_the_world(tree):
    text = (tree / "terraform" / "ohio" / "security.tf").read_text()
    rule = text.split('"aws_vpc_security_group_ingress_rule" "self" {\n')[1].split("}")[0]
    replace(tree, "security.tf", '"aws_vpc_security_group_ingress_rule" "self" {\n' + rule, '"aws_vpc_security_group_ingress_rule" "self" {\n  security_group_id = aws_security_group.cluster[0].id\n  cidr_ipv4         = "0.0.0.0/0"\n  ip_protocol       = "-1"\n')


def egress_to_another_group(tree):
    text = (tree / "terraform" / "ohio" / "security.tf").read_text()
    head = text.index('"aws_vpc_security_group_egress_rule" "self"')
    at = text.index("referenced_security_group_id = aws_security_group.cluster[0].id", head)
    (tree / "terraform" / "ohio" / "security.tf").write_text(text[:at] + text[at:].replace("aws_security_group.cluster[0].id", "aws_security_group.head.id", 1))


def unguard(tree):
    file = tree / "terraform" / "ohio" / "storage.tf"
    file.write_text(file.read_text().replace("\n  lifecycle {\n    prevent_destroy = true\n  }\n", "\n  # prevent_destroy = true\n"))


def pool(**changed):
    return lambda tree: set_variables(tree, lambda values: values["pools"]["gpu"].update(changed))


# Faults that one step sees together: how to spoil the tree; slug and words of the finding that each must bring.
FAULTS = {
    "text": [
        (lambda t: replace(t, "dns.tf", "  ttl     = 60", "  ttl = 60"), "terraform-unformatted", "ohio/dns.tf"),
        (lambda t: replace(t, "boot/sync.sh", "changed=0\n", "changed=0; if\n"), "shell-syntax", "ohio/boot/sync.sh"),
        (lambda t: replace(t, "versions.tf", ">= 5.100, < 7", ">= 7, < 8"), "terraform-refused", "init:"),
        (lambda t: replace(t, "security.tf", "    prevent_destroy = true", "    prevent_destroy = false"), "plan-not-of-design", "aws_kms_key.main has no prevent_destroy"),
        (lambda t: unguard(t), "plan-not-of-design", "aws_s3_bucket.data has no prevent_destroy"),
        (lambda t: None, "plan-not-of-design", "aws_fsx_lustre_file_system.data has no prevent_destroy"),
    ],
    "schema": [
        (drop_argument, "terraform-refused", 'argument "vpc_id" is required'),
        (lambda t: replace(t, "dns.tf", "  comment = ", "  coment  = "), "terraform-refused", 'argument named "coment" is not expected'),
        (lambda t: replace(t, "nodes.tf", 'strategy = "cluster"', 'strategy = "closest"'), "terraform-refused", "expected strategy to be one of"),
    ],
    "variables": [
        (pool(efa_interfaces=31, reservation_id=None), "terraform-refused", "efa_interfaces or network_cards is not what this instance type has"),
        (lambda t: None, "terraform-refused", "needs its reservation_id"),
        (lambda t: set_variables(t, lambda v: v["file_systems"]["fsx"].update(capacity_gib=1300)), "terraform-refused", "capacity_gib is 1200 or a multiple of 2400"),
    ],
    "subnet": [
        (lambda t: set_variables(t, lambda v: v.update(private_cidr="10.64.0.0/28")), "terraform-refused", "offers 11 addresses"),
    ],
    "plan": [
        (lambda t: set_variables(t, lambda v: v["pools"]["gpu"]["nodes"].remove("gpu0009")), "plan-not-of-design", "machines: missing: gpu0009"),
        (pool(instance_type="p5e.48xlarge"), "plan-not-of-design", "p5e.48xlarge for p5.48xlarge"),
        (pool(reservation_id="cr-00000000000000000"), "plan-not-of-design", "for cr-0a1b2c3d4e5f67890"),
        (open_to_the_world, "plan-not-of-design", "lets the whole world in"),
        (lambda t: None, "plan-not-of-design", "no ingress rule lets all traffic of a security group to itself"),
        (egress_to_another_group, "plan-not-of-design", "no egress rule lets all traffic"),
        # The provider says nothing: it does not look into a dynamic block.
        (lambda t: replace(t, "nodes.tf", '"efa-only"', '"efa_only"'), "plan-not-of-design", "interfaces of aws_launch_template"),
        (lambda t: replace(t, "nodes.tf", "market_type = instance_market_options.value", 'market_type = "spot"'), "plan-not-of-design", "market ['spot'] for capacity-block"),
        (lambda t: replace(t, "nodes.tf", "spec.reservation_id == null && ", ""), "plan-not-of-design", "a placement group"),
        (lambda t: replace(t, "head.tf", "    encrypted   = true", "    encrypted   = false"), "plan-not-of-design", "the system disk is not encrypted"),
        (lambda t: replace(t, "nodes.tf", '= "required"', '= "optional"'), "plan-not-of-design", "metadata service is open"),
    ],
    "own tests": [
        (lambda t: replace(t, "tests/nodes.tftest.hcl", "== 1 + var.pools[pool].efa_interfaces", "== 2 + var.pools[pool].efa_interfaces"), "terraform-refused", "One ENA interface, and the EFA-only interfaces of the type"),
    ],
}  # fmt: skip


@pytest.mark.judge("terraform")
@pytest.mark.xdist_group("terraform")
@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_a_spoilt_tree_fails(tree, project, faults):
    for spoil, _, _ in faults:
        spoil(tree)
    verdict = terraform.verify(tree, project)
    assert verdict.status == "failed"
    for _, slug, words in faults:
        assert any(f.slug == slug and f.severity == "error" and words in f.message for f in verdict.findings), (words, verdict.findings)


@pytest.mark.judge("terraform")
@pytest.mark.xdist_group("terraform")
def test_a_spoilt_move_into_a_network_fails(tmp_path):
    """The network and the group of the account are used, and nothing is made beside them."""
    text = (data_folder("blueprints") / "aws-p5.yaml").read_text().replace("zone: us-east-2a}", EXISTING).replace(BLOCK, "    efa: 16\n")
    project = pipeline.run(text, "aws-p5.yaml").project
    for path, content in terraform_aws.render(project).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    nothing_made = "count = var.existing_network == null ? 1 : 0\n\n  vpc_id            = aws_vpc.main[0].id\n  availability_zone = var.zone\n  cidr_block        = var.private_cidr"
    replace(tmp_path, "network.tf", nothing_made, nothing_made.replace("var.existing_network == null ? 1 : 0", "1").replace("aws_vpc.main[0].id", "local.vpc_id"))
    replace(tmp_path, "head.tf", "local.subnet_id", '"subnet-00000000000000000"')
    set_variables(tmp_path, lambda values: values["pools"]["gpu"].update(efa_interfaces=8))
    security = tmp_path / "terraform" / "ohio" / "security.tf"
    security.write_text(security.read_text().replace("count = var.security_group_id == null && var.member_ports == null ? 1 : 0", "count = 1").replace("count = var.security_group_id == null ? 1 : 0\n\n  name", "count = 1\n\n  name"))
    verdict = terraform.verify(tmp_path, project)
    assert verdict.status == "failed"
    for words in ("aws_subnet: too many", "machines in subnet-00000000000000000", "interfaces of aws_launch_template", "ingress rules for a group whose rules are its owner's", "egress rules for"):
        assert any(words in f.message for f in verdict.findings), (words, verdict.findings)


def test_a_cluster_without_a_cloud_is_not_applicable(tmp_path):
    lab = pipeline.run((data_folder("blueprints") / "lab.yaml").read_text(), "lab.yaml").project
    assert not terraform.applies(tmp_path)
    assert terraform.verify(tmp_path, lab).status == "not-applicable"


@pytest.mark.judge("terraform")
def test_a_tree_that_lost_its_root_fails(tmp_path, project):
    verdict = terraform.verify(tmp_path, project)
    assert verdict.status == "failed"
    assert [f.message for f in verdict.findings] == ["terraform/ohio is missing: nothing builds its machines"]


def test_without_terraform_the_verdict_says_how_to_get_it(generated, project, monkeypatch):
    monkeypatch.setenv("IACGEN_TERRAFORM", "no-such-program")
    verdict = terraform.verify(generated, project)
    assert (verdict.status, verdict.version) == ("missing", None)
    assert "IACGEN_TERRAFORM" in verdict.findings[0].message


def test_every_file_of_a_root_but_the_gitignore_is_read(generated):
    read = {path for pattern in terraform.READS for path in generated.glob(pattern)}
    left = {path.name for path in (generated / "terraform").rglob("*") if path.is_file() and path not in read}
    assert left == {".gitignore"}


def test_an_empty_plan_misses_everything(project):
    said = "\n".join(differences({"planned_values": {"root_module": {}}}, project.design, "ohio"))
    for words in ("machines: missing: gpu0001, gpu0002, gpu0003, gpu0004, gpu0005 and 12 more", "names in the private zone: missing", "file systems", "aws_s3_bucket: missing: checkpoints"):
        assert words in said
