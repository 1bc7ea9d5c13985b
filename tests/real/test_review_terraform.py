"""What a review says Terraform will do, against what the real ``terraform plan`` says, for every edit of a corpus.

One apply of the shipped blueprint's tree to a local AWS, then one plan per edit in a copy of the new root that takes over its state.
The plans compare with the state alone (``-refresh=false``): it was refreshed once, as every plan without that word does first (an apply
leaves null where a refresh writes an empty map, which shows as an update of machines), and nothing has drifted since.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from iacgen import pipeline
from iacgen.paths import data_folder
from iacgen.review.terraform import actions, matched
from iacgen.verify import programs
from iacgen.verify.process import Completed, run

pytestmark = [pytest.mark.judge("terraform", "moto"), pytest.mark.xdist_group("terraform")]

SITE = "ohio"
SERVICES = ("ec2", "fsx", "iam", "kms", "route53", "s3", "secretsmanager", "sts")
IMAGE = "ami-1e749f67"  # one of those that moto 5.2.1 knows: the provider asks for its root device
EDITS = yaml.safe_load((Path(__file__).parents[1] / "review" / "aws_edits.yaml").read_text())
TEXT = (data_folder("blueprints") / "aws-p5.yaml").read_text()


def edited(base, edit):
    """``edit`` merged into ``base``, a key of null taken out."""
    if not (isinstance(base, dict) and isinstance(edit, dict)):
        return edit
    merged = base | {key: edited(base.get(key), value) for key, value in edit.items()}
    return {key: value for key, value in merged.items() if edit.get(key, value) is not None}


def tree_of(edit):
    state = pipeline.run(yaml.safe_dump(edited(yaml.safe_load(TEXT), edit), sort_keys=False), "aws-p5.yaml")
    assert not [finding for finding in state.findings if finding.severity == "error"]
    return pipeline.tree(state)


@pytest.fixture(scope="module")
def terraform(tmp_path_factory):
    env = {"HOME": str(tmp_path_factory.mktemp("home")), "CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1", "TF_INPUT": "0", "TF_VAR_ami": IMAGE, "AWS_EC2_METADATA_DISABLED": "true"}

    def ask(folder: Path, *words: str) -> Completed:
        return run((programs.find("terraform").path, *words), cwd=folder, env=env, timeout=400)

    return ask


@pytest.fixture(scope="module")
def written(aws):
    """Writes a tree, with its provider pointed at the local AWS; gives the root's folder."""
    skip = dict.fromkeys(("skip_credentials_validation", "skip_metadata_api_check", "skip_region_validation", "s3_use_path_style"), True)
    provider = {"access_key": "testing", "secret_key": "testing", "max_retries": 3, "endpoints": dict.fromkeys(SERVICES, aws.url)} | skip

    def write(tree: dict[str, str], folder: Path) -> Path:
        for path, text in tree.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        root = folder / "terraform" / SITE
        (root / "moto_override.tf.json").write_text(json.dumps({"provider": {"aws": provider}}))
        return root

    return write


@pytest.fixture(scope="module")
def applied(aws, written, terraform, tmp_path_factory):
    root = written(tree_of({}), tmp_path_factory.mktemp("old"))
    apply = ("apply", "-no-color", "-auto-approve", "-parallelism=40")
    for words in (("init", "-no-color", f"-plugin-dir={programs.find('terraform').companion}"), apply, (*apply, "-refresh-only")):
        done = terraform(root, *words)
        assert done.ok, done.out[-3000:] + done.err + aws.complaints
    return root


@pytest.fixture
def planned(applied, written, terraform, tmp_path):
    """What the real program says of a new tree: the plan as JSON and the instances that it refuses to destroy."""

    def plan(tree: dict[str, str]) -> tuple[dict | None, tuple[str, ...]]:
        root = written(tree, tmp_path / "new")
        (root / ".terraform").symlink_to(applied / ".terraform")
        for name in (".terraform.lock.hcl", "terraform.tfstate"):
            shutil.copy(applied / name, root / name)
        done = terraform(root, "plan", "-no-color", "-refresh=false", "-lock=false", "-parallelism=40", "-out=changes")
        refused = re.findall(r"Resource (\S+) has lifecycle.prevent_destroy set", " ".join(done.err.replace("│", " ").split()))
        assert done.ok or refused, done.out[-3000:] + done.err
        return (json.loads(terraform(root, "show", "-json", "changes").out) if done.ok else None), tuple(sorted(refused))

    return plan


@pytest.mark.parametrize("case", EDITS, ids=[case["id"] for case in EDITS])
def test_what_is_predicted_is_what_terraform_plans(case, planned):
    new = tree_of(case["edit"])
    predicted = actions(tree_of({}), new, SITE)
    plan, refused = planned(new)
    assert predicted.refused == refused
    assert predicted.outcome == case["outcome"]
    if plan is not None:
        assert matched(predicted, plan) == ()
    gone = {address.partition(".")[0] for address, asked in predicted.actions.items() if "delete" in asked}
    assert not gone & set(case.get("keeps", ()))
    assert set(case.get("replaces", ())) <= gone
