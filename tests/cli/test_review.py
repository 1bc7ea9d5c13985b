"""``iacgen review``: files, folders and revisions in, the verdict first; no change is no change."""

import json
import re
import subprocess

import pytest


def edited(text, old, new):
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.fixture
def pair(lab, tmp_path):
    """lab.yaml and an edit of it."""
    (tmp_path / "old.yaml").write_text(lab)
    (tmp_path / "new.yaml").write_text(edited(lab, 'version: "22.05"', 'version: "24.11"'))
    return tmp_path


@pytest.fixture
def repository(pair, lab, monkeypatch):
    """Two commits of blueprints/lab.yaml, and a second blueprint that stays."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "t")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "t@example.invalid")
    ask = lambda *words: subprocess.run(["git", *words], cwd=pair, check=True, capture_output=True)  # noqa: E731
    ask("init", "-q", "-b", "main")
    (pair / "blueprints").mkdir()
    (pair / "old.yaml").rename(pair / "blueprints" / "lab.yaml")
    (pair / "blueprints" / "other.yaml").write_text(edited(lab, "name: lab\n", "name: other\n"))
    (pair / "blueprints" / "values.yaml").write_text("count: 4\n")
    ask("add", "blueprints"), ask("commit", "-qm", "first"), ask("tag", "before")
    (pair / "new.yaml").rename(pair / "blueprints" / "lab.yaml")
    ask("commit", "-qam", "second")
    return pair


def told(call, *words):
    done = call("review", *words, "--format", "json")
    assert done.exit_code == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_two_files(call, pair):
    found = told(call, "old.yaml", "new.yaml")
    (one,) = found["blueprints"]
    assert found["changed"] and one["name"] == "new.yaml"
    assert one["changes"] == [{"path": "scheduler.version", "old": "22.05", "new": "24.11"}]
    assert found["verdict"] == one["verdict"] == max(one["consequences"], key=lambda c: c["effect"] == one["verdict"])["effect"]
    assert "slurm/slurm.conf" in {f["path"] for f in one["files"]}


def test_what_means_the_same_is_no_change(call, pair, lab):
    head, _, rest = lab.partition("\nfabrics:")
    fabrics, _, rest = rest.partition("\nscheduler:")
    (pair / "new.yaml").write_text(f"{head}\nscheduler:{rest}\nfabrics:  # the networks\n{fabrics.strip(chr(10))}\n")
    found = told(call, "old.yaml", "new.yaml")
    assert not found["changed"] and found["verdict"] == "nothing" and not found["blueprints"][0]["files"]
    assert "no change" in call("review", "old.yaml", "new.yaml").stdout
    assert "no change" in call("review", "old.yaml", "new.yaml", "--format", "markdown").stdout


def test_two_revisions_show_what_differs_between_them(call, repository):
    found = told(call, "before", "main")
    assert [one["name"] for one in found["blueprints"]] == ["blueprints/lab.yaml"]


@pytest.mark.parametrize("old", ["before", "before:blueprints/lab.yaml"])
def test_a_revision_beside_a_file_is_that_file_at_the_revision(call, repository, old):
    (one,) = told(call, old, "blueprints/lab.yaml")["blueprints"]
    assert [c["path"] for c in one["changes"]] == ["scheduler.version"]


def test_two_folders(call, repository, tmp_path):
    (tmp_path / "empty").mkdir()
    found = told(call, "empty", "blueprints")
    assert sorted(one["name"] for one in found["blueprints"]) == ["lab.yaml", "other.yaml"], "what is no cluster is not reviewed"
    gone = told(call, "blueprints", "empty")
    assert gone["verdict"] == "stop"


def test_an_output_folder_is_its_blueprint(call, pair):
    assert call("generate", "old.yaml").exit_code == 0
    assert not told(call, "out/lab", "old.yaml")["changed"]
    (one,) = told(call, "out/lab", "new.yaml")["blueprints"]
    assert [c["path"] for c in one["changes"]] == ["scheduler.version"]


def test_a_blueprint_that_generate_refuses_is_impossible(call, pair):
    new = pair / "new.yaml"
    new.write_text(edited(new.read_text(), "sn5600", "sn5601"))
    found = told(call, "old.yaml", "new.yaml")
    assert found["verdict"] == "impossible"
    assert "IAC202" in found["blueprints"][0]["consequences"][0]["reason"]


@pytest.mark.parametrize("words", [("old.yaml", "none.yaml"), ("--", "-x", "new.yaml"), ("no-revision", "new.yaml"), ("old.yaml", ".")])
def test_what_cannot_be_read_is_told(call, pair, words):
    done = call("review", *words)
    assert done.exit_code == 2 and done.stderr.startswith("iacgen: ")


def test_a_verdict_can_fail_the_step(call, pair):
    verdict = told(call, "old.yaml", "new.yaml")["verdict"]
    assert call("review", "old.yaml", "new.yaml", "--fail-on", verdict).exit_code == 1
    assert call("review", "old.yaml", "new.yaml", "--fail-on", "impossible").exit_code == 0


def test_nothing_of_a_blueprint_is_markup(call, pair, lab):
    evil = "<img src=x> @everyone `code` [a](http://b) | pipe"
    (pair / "new.yaml").write_text(lab.replace("name: lab\n", f"name: lab\ndescription: '{evil}'\n", 1))
    text = call("review", "old.yaml", "new.yaml", "--format", "markdown").stdout
    tables = text.partition("### Files")[0]
    assert "pipe" in tables
    for active in (r"(?<!\\)<img", r"(?<!\\)`code", "@everyone", r"(?<!\\)\]\(", r"(?<!\\)\| pipe"):
        assert not re.search(active, tables), active


def test_the_review_goes_to_a_new_file_only(call, pair):
    assert call("review", "old.yaml", "new.yaml", "-o", "review.md", "--format", "markdown").exit_code == 0
    assert (pair / "review.md").read_text().startswith("## new.yaml: ")
    assert call("review", "old.yaml", "new.yaml", "-o", "review.md").exit_code == 2
