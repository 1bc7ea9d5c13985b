"""What Terraform is predicted to do of a change. The rules are Terraform's and the provider's; the real plan judges them in tests/real."""

import json

import pytest

from iacgen import pipeline
from iacgen.paths import data_folder
from iacgen.review.terraform import Predicted, actions, matched

SITE = "ohio"


def tree_of(*sets):
    text = (data_folder("blueprints") / "aws-p5.yaml").read_text()
    state = pipeline.run(text, "aws-p5.yaml", sets=sets)
    assert not [finding for finding in state.findings if finding.severity == "error"]
    return pipeline.tree(state)


@pytest.fixture(scope="module")
def old():
    return tree_of()


def plan_of(*changes):
    return {"resource_changes": [{"address": address, "change": {"actions": list(asked)}} for address, asked in changes]}


def test_the_same_tree_changes_nothing(old):
    assert actions(old, old, SITE) == Predicted()
    assert actions(old, old, SITE).outcome == "nothing"


def test_a_first_tree_creates_everything(old):
    predicted = actions({}, old, SITE)
    assert set(predicted.actions.values()) == {("create",)}
    assert not predicted.refused
    assert sum(address.startswith("aws_instance.") for address in predicted.actions) == 17  # 16 nodes and the head


def test_a_root_that_goes_leaves_its_resources_behind(old):
    predicted = actions(old, {}, SITE)
    assert (predicted.outcome, predicted.actions) == ("orphaned", {})
    assert 'aws_fsx_lustre_file_system.data["fsx"]' in predicted.left_behind


def test_order_of_the_files_does_not_matter(old):
    new = tree_of("nodes.gpu.count=17", "training.pretrain.global_batch=136")
    turned = dict(reversed(new.items()))
    assert list(actions(old, new, SITE).actions.items()) == list(actions(dict(reversed(old.items())), turned, SITE).actions.items())


def test_order_of_the_variables_does_not_matter(old):
    path = f"terraform/{SITE}/terraform.tfvars.json"
    variables = json.loads(old[path])
    variables["pools"]["gpu"]["nodes"].reverse()
    turned = old | {path: json.dumps(dict(reversed(variables.items())))}
    assert actions(old, turned, SITE).outcome == "nothing"


def test_a_file_system_grows_in_place_and_is_never_shrunk(old):
    grown, shrunk = (actions(old, tree_of(f"storage.fsx.capacity={size}GiB"), SITE) for size in (96000, 24000))
    assert grown.actions['aws_fsx_lustre_file_system.data["fsx"]'] == ("update",)
    assert not grown.refused
    assert shrunk.refused == ('aws_fsx_lustre_file_system.data["fsx"]',)


def test_matching_says_each_kind_of_difference():
    predicted = Predicted({"a.same": ("update",), "a.ours": ("create",), "a.other": ("update",)})
    plan = plan_of(("a.same", ["update"]), ("a.other", ["delete", "create"]), ("a.theirs", ["delete"]), ("a.stays", ["no-op"]), ("data.a.b", ["read"]))
    assert matched(predicted, plan) == (
        "a.other: update in place was predicted, replace is planned.",
        "a.ours: create was predicted and is not planned.",
        "a.theirs: delete is planned and was not predicted.",
    )


def test_a_plan_where_a_refusal_was_predicted_is_a_difference():
    (said,) = matched(Predicted({"a.b": ("delete",)}, refused=("a.b",)), plan_of(("a.b", ["delete"])))
    assert "a.b" in said
    assert "refuse" in said


@pytest.mark.parametrize("plan", [None, [], "x", 3, {"resource_changes": {}}, {"resource_changes": "abc"}])
def test_what_is_no_plan_is_said_to_be_none(plan):
    (said,) = matched(Predicted(), plan)
    assert "not the JSON of a plan" in said


@pytest.mark.parametrize("entry", [None, [], 3, {}, {"address": 1}, {"address": "a", "change": []}, {"address": "a", "change": {"actions": "create"}}, {"address": "a", "change": {"actions": [["x"]]}}, {"address": "a", "change": {"actions": ["burn"]}}])
def test_odd_entries_are_counted(entry):
    assert matched(Predicted(), {"resource_changes": [entry]}) == ("Entries of the plan that cannot be read: 1.",)


def test_what_a_plan_calls_its_resources_reaches_no_terminal():
    (said,) = matched(Predicted(), plan_of(("a\x1b[31m\n" + "b" * 5000, ["create"])))
    assert said.isprintable()
    assert len(said) < 500
