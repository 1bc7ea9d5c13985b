"""The AWS root of a generated tree, applied by the real provider to a local moto server.

Proves that the calls are made, that the API's answers make a later plan empty, and that nothing destroys data. Proves nothing
of quotas, permissions and capacity.
"""

from __future__ import annotations

import json
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from iacgen import pipeline
from iacgen.paths import data_folder
from iacgen.verify import programs
from iacgen.verify.process import Completed, run

pytestmark = [pytest.mark.judge("terraform", "moto"), pytest.mark.xdist_group("terraform")]

HERE = Path(__file__).parent
SITE = "ohio"
SERVICES = ("ec2", "fsx", "iam", "kms", "route53", "s3", "secretsmanager", "sts")
IMAGE = "ami-1e749f67"  # one of those that moto 5.2.1 knows: the provider asks for its root device
NODES = [f"gpu{number:04d}" for number in range(1, 17)]


@dataclass(frozen=True)
class Root:
    """A temporary copy of a generated root that talks to a local AWS."""

    folder: Path
    home: Path
    complaints: Callable[[], str]

    def ask(self, *words: str, timeout: float = 400) -> Completed:
        env = {"HOME": str(self.home), "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "TF_VAR_ami": IMAGE, "AWS_EC2_METADATA_DISABLED": "true"}
        return run((programs.find("terraform").path, *words), cwd=self.folder, env=env, timeout=timeout)

    def must(self, *words: str) -> str:
        done = self.ask(*words)
        assert done.ok, done.out[-3000:] + done.err + self.complaints()
        return done.out

    @property
    def variables(self) -> dict:
        return json.loads((self.folder / "terraform.tfvars.json").read_text())

    def set(self, **changed: object) -> None:
        (self.folder / "terraform.tfvars.json").write_text(json.dumps(self.variables | changed))

    def changes(self) -> dict[str, list[str]]:
        """Address → actions of a plan, without what stays."""
        self.must("plan", "-no-color", "-out=changes")
        planned = json.loads(self.must("show", "-json", "changes"))["resource_changes"]
        return {change["address"]: change["change"]["actions"] for change in planned if change["change"]["actions"] not in (["no-op"], ["read"])}


@pytest.fixture(scope="module")
def aws_tree(tmp_path_factory):
    """The whole tree of the shipped blueprint: machines fetch more of it than Terraform's own files."""
    state = pipeline.run((data_folder("blueprints") / "aws-p5.yaml").read_text(), "aws-p5.yaml")
    assert not state.findings
    folder = tmp_path_factory.mktemp("generated")
    for path, text in pipeline.tree(state).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture(scope="module")
def make_root(aws, aws_tree, tmp_path_factory):
    """Copies the generated tree and points its provider at moto, in a file that merges into the root's own."""

    def make() -> Root:
        work = tmp_path_factory.mktemp("root")
        shutil.copytree(aws_tree, work / "tree")
        (work / "home").mkdir()
        root = Root(work / "tree" / "terraform" / SITE, work / "home", lambda: aws.complaints)
        provider = {
            "access_key": "testing",
            "secret_key": "testing",
            "skip_credentials_validation": True,
            "skip_metadata_api_check": True,
            "skip_region_validation": True,
            "s3_use_path_style": True,
            "max_retries": 3,  # an action that moto lacks answers 500: the usual 25 retries would look like a hang
            "endpoints": dict.fromkeys(SERVICES, aws.url),
        }
        (root.folder / "moto_override.tf.json").write_text(json.dumps({"provider": {"aws": provider}}))
        root.must("init", "-no-color", f"-plugin-dir={programs.find('terraform').companion}")
        return root

    return make


@pytest.fixture(scope="module")
def applied(make_root):
    """The tree as generated, with its file system, applied."""
    root = make_root()
    root.must("apply", "-no-color", "-auto-approve", "-parallelism=40")
    return root


def test_a_second_plan_is_empty(applied):
    """Most faults of a root are drift, not errors: what the API answers must be what was written."""
    done = applied.ask("plan", "-no-color", "-detailed-exitcode")
    assert done.code == 0, done.out[-3000:] + done.err


def test_what_was_built_is_what_was_drawn(applied):
    state = json.loads(applied.must("show", "-json"))["values"]["root_module"]["resources"]
    assert all(disk["encrypted"] and disk["kms_key_id"] for r in state if r["type"] == "aws_instance" for disk in r["values"]["root_block_device"])
    records = {r["values"]["name"]: r["values"]["records"] for r in state if r["type"] == "aws_route53_record"}
    machines = {r["index"]: r["values"] for r in state if r["type"] == "aws_instance"}
    assert set(machines) == {*NODES, "head0001"}
    assert records == {f"{name}.aws-p5.internal": [values["private_ip"]] for name, values in machines.items()}
    template = next(r["values"] for r in state if r["type"] == "aws_launch_template")
    assert [(n["network_card_index"], n["device_index"], n["interface_type"]) for n in template["network_interfaces"]] == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        *((card, 0, "efa-only") for card in range(1, 32)),
    ]
    assert template["user_data"] and {r["values"]["user_data"] for r in state if r["type"] == "aws_launch_template"} == {template["user_data"]}, "the same text for all"


def test_secrets_are_not_in_the_state(applied):
    """The munge key is the head node's: Terraform makes the place for it and never sees it."""
    state = json.loads((applied.folder / "terraform.tfstate").read_text())
    assert {r["type"] for r in state["resources"] if "secret" in r["type"]} == {"aws_secretsmanager_secret"}


def test_one_more_node_is_one_machine_and_its_name(applied):
    before = applied.variables
    applied.set(pools={"gpu": before["pools"]["gpu"] | {"nodes": [*NODES, "gpu0017"]}})
    try:
        assert applied.changes() == {
            'aws_instance.node["gpu0017"]': ["create"],
            'aws_route53_record.machine["gpu0017"]': ["create"],
        }
    finally:
        applied.set(**before)


def test_destroy_is_refused_for_the_data(applied):
    done = applied.ask("destroy", "-no-color", "-auto-approve")
    said = " ".join(done.err.split())
    assert done.code == 1
    assert 'Resource aws_fsx_lustre_file_system.data["fsx"] has lifecycle.prevent_destroy set' in said
    assert 'Resource aws_s3_bucket.data["checkpoints"] has lifecycle.prevent_destroy set' in said
    assert 'aws_instance.node["gpu0001"]' in applied.must("state", "list"), "nothing was destroyed"


@pytest.fixture(scope="module")
def applied_without_fsx(make_root):
    """Two machines on demand and the bucket, without a file system: deleting one takes the service ten minutes."""
    root = make_root()
    pool = root.variables["pools"]["gpu"] | {"nodes": NODES[:2], "purchase": "on-demand", "reservation_id": None}
    # Another site of the same cluster, so that it shares the account with the first.
    root.set(site="spare", file_systems={}, pools={"gpu": pool}, admin_cidrs=["192.0.2.0/24"])
    shutil.copy(HERE / "aws" / "lift_prevent_destroy_override.tf", root.folder)
    root.must("apply", "-no-color", "-auto-approve", "-parallelism=40")
    return root


def test_without_fsx_a_second_plan_is_empty(applied_without_fsx):
    done = applied_without_fsx.ask("plan", "-no-color", "-detailed-exitcode")
    assert done.code == 0, done.out[-3000:] + done.err


def test_without_fsx_destroy_is_refused_for_the_key(applied_without_fsx):
    """Who loses the key loses the data. With a file system the refusal comes before the key's turn."""
    lifted = applied_without_fsx.folder / "lift_prevent_destroy_override.tf"
    text = lifted.read_text()
    lifted.write_text(text.partition('resource "aws_kms_key"')[0])
    try:
        done = applied_without_fsx.ask("destroy", "-no-color", "-auto-approve")
    finally:
        lifted.write_text(text)
    assert done.code == 1
    assert "Resource aws_kms_key.main has lifecycle.prevent_destroy set" in " ".join(done.err.split())
    assert "aws_s3_bucket" not in done.err


def test_without_fsx_destroy_finishes_once_the_guard_is_lifted(applied_without_fsx):
    assert "Destroy complete!" in applied_without_fsx.must("destroy", "-no-color", "-auto-approve", "-parallelism=40")
    assert applied_without_fsx.must("state", "list") == ""


@pytest.fixture(scope="module")
def theirs(make_root):
    """Ids of a network and a security group that are in the account before the cluster comes."""
    root = make_root()
    for path in [*root.folder.glob("*.tf"), root.folder / "terraform.tfvars.json"]:
        path.unlink()
    shutil.copy(HERE / "aws" / "their_network.tf", root.folder)
    root.must("init", "-no-color", f"-plugin-dir={programs.find('terraform').companion}")
    root.must("apply", "-no-color", "-auto-approve")
    return {name: out["value"] for name, out in json.loads(root.must("output", "-json")).items()}


@pytest.fixture(scope="module")
def moved_in(make_root, theirs):
    """One machine with half of its EFA interfaces, and the bucket, in that network and group."""
    root = make_root()
    pool = root.variables["pools"]["gpu"] | {"nodes": NODES[:1], "purchase": "on-demand", "reservation_id": None, "efa_cards": 32, "efa_interfaces": 16}
    network = {"vpc_id": theirs["vpc"], "subnet_id": theirs["subnet"]}
    root.set(site="guest", file_systems={}, heads={}, slurm_version=None, pools={"gpu": pool}, existing_network=network, security_group_id=theirs["group"], private_cidr="10.80.1.0/24", public_cidr=None)
    root.must("apply", "-no-color", "-auto-approve", "-parallelism=40")
    return root


def test_moved_in_a_second_plan_is_empty(moved_in):
    done = moved_in.ask("plan", "-no-color", "-detailed-exitcode")
    assert done.code == 0, done.out[-3000:] + done.err


def test_who_moves_in_changes_nothing_of_the_network(moved_in, theirs):
    state = json.loads(moved_in.must("show", "-json"))["values"]["root_module"]["resources"]
    built = {r["type"] for r in state if r["mode"] == "managed"}
    assert not built & {"aws_vpc", "aws_subnet", "aws_nat_gateway", "aws_route", "aws_route_table", "aws_vpc_endpoint", "aws_vpc_dhcp_options"}
    assert not built & {"aws_vpc_security_group_ingress_rule", "aws_vpc_security_group_egress_rule"}
    # moto starts a machine elsewhere than its template says: what the template says is looked at.
    (template,) = (r["values"] for r in state if r["type"] == "aws_launch_template")
    assert [nic["network_card_index"] for nic in template["network_interfaces"] if nic["interface_type"] == "efa-only"] == list(range(0, 32, 2))
    assert {(nic["subnet_id"], *nic["security_groups"]) for nic in template["network_interfaces"]} == {(theirs["subnet"], theirs["group"])}
    (zone,) = (r["values"] for r in state if r["type"] == "aws_route53_zone")
    assert [vpc["vpc_id"] for vpc in zone["vpc"]] == [theirs["vpc"]]


def test_a_request_that_is_sent_again_makes_nothing_twice(aws):
    """As the service does: a client that lost the answer sends the same token. Else a busy machine fails an apply now and then."""
    asked = {"Action": "CreateLaunchTemplate", "Version": "2016-11-15", "LaunchTemplateName": "again", "LaunchTemplateData.ImageId": IMAGE}

    def ask(token: str) -> str:
        header = {"Authorization": "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-2/ec2/aws4_request, SignedHeaders=host, Signature=0"}
        request = urllib.request.Request(aws.url, urllib.parse.urlencode(asked | {"ClientToken": token}).encode(), header)
        return urllib.request.urlopen(request, timeout=30).read().decode()

    assert ask("one") == ask("one")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        ask("another")
