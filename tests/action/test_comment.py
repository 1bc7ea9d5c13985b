"""The comment under a pull request: one, updated, never somebody else's, and no token in the log."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "action/comment.py"
MARKER = "<!-- iacgen review -->"


@pytest.fixture
def comment(api, token, tmp_path):
    """Runs the script as the action's step does; its result, with the token shown nowhere."""

    def run(review="# Review\n\nnothing to do\n", event=None):
        (tmp_path / "review.md").write_text(review, encoding="utf-8")
        (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}} if event is None else event), encoding="utf-8")
        env = {"PATH": os.environ["PATH"], "GITHUB_API_URL": api.url, "GITHUB_TOKEN": token, "GITHUB_REPOSITORY": "octo/lab", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
        done = subprocess.run([sys.executable, "-I", SCRIPT, tmp_path / "review.md"], env=env, capture_output=True, text=True, timeout=60)
        assert token not in done.stdout + done.stderr
        assert not done.stderr
        return done

    return run


def bodies(api):
    return [c["body"] for c in api.comments]


def test_the_first_run_writes_one_comment(api, comment):
    api.add("looks good", "maria")
    assert comment().returncode == 0
    assert bodies(api) == ["looks good", f"{MARKER}\n# Review\n\nnothing to do\n"]


def test_a_later_run_updates_it(api, comment):
    comment()
    assert comment("# Review\n\ndestroys data\n").returncode == 0
    assert bodies(api) == [f"{MARKER}\n# Review\n\ndestroys data\n"]
    assert [method for method, _ in api.asked] == ["GET", "POST", "GET", "PATCH"]


def test_it_is_found_on_a_later_page(api, comment):
    api.page = 3
    for n in range(7):
        api.add(f"remark {n}", "maria")
    api.add(f"{MARKER}\nold")
    assert comment("new").returncode == 0
    assert bodies(api)[-1] == f"{MARKER}\nnew"
    assert len(api.comments) == 8
    assert [target.rpartition("page=")[2] for method, target in api.asked if method == "GET"] == ["1", "2", "3"]


def test_a_comment_of_somebody_else_with_the_marker_is_left_alone(api, comment):
    api.add(f"{MARKER}\nnothing to do, honest", "mallory")
    assert comment("new").returncode == 0
    assert bodies(api) == [f"{MARKER}\nnothing to do, honest", f"{MARKER}\nnew"]


def test_a_comment_that_quotes_the_marker_is_left_alone(api, comment):
    api.add(f"> {MARKER}\nanother workflow")
    assert comment("new").returncode == 0
    assert bodies(api) == [f"> {MARKER}\nanother workflow", f"{MARKER}\nnew"]


def test_the_own_comment_of_a_machine_account_is_updated(api, comment):
    api.login = "lab-robot"
    api.add(f"{MARKER}\nold", "lab-robot")
    assert comment("new").returncode == 0
    assert bodies(api) == [f"{MARKER}\nnew"]


def test_one_that_was_deleted_meanwhile_is_written_anew(api, comment):
    api.add(f"{MARKER}\nold")
    api.instead = [("PATCH", 404, {}, False)]
    assert comment("new").returncode == 0
    assert bodies(api) == [f"{MARKER}\nold", f"{MARKER}\nnew"]


@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_read_only_token_is_a_notice(api, comment, method, status):
    api.instead = [(method, status, {}, False)]
    done = comment()
    assert done.returncode == 0
    assert done.stdout.startswith("::notice title=iacgen::the token may not comment here")
    assert not api.comments


def test_what_github_refuses_is_an_error(api, comment):
    api.instead = [("POST", 422, {}, False)]
    done = comment()
    assert done.returncode == 1
    assert done.stdout.startswith("::error title=iacgen::the comment was not written. GitHub answered 422")


@pytest.mark.parametrize(("status", "headers"), [(500, {"Retry-After": "0"}), (502, {"Retry-After": "0"}), (429, {"Retry-After": "0"}), (403, {"Retry-After": "0"}), (503, {})])
def test_what_passes_is_tried_again(api, comment, status, headers):
    api.instead = [("GET", status, headers, False)]
    assert comment().returncode == 0
    assert len(api.comments) == 1


def test_a_lost_answer_writes_no_second_comment(api, comment):
    api.instead = [("POST", 502, {"Retry-After": "0"}, True)]
    assert comment().returncode == 0
    assert len(api.comments) == 1
    assert [method for method, _ in api.asked] == ["GET", "POST", "GET", "PATCH"]


def test_patience_ends(api, comment):
    api.instead = [("GET", 500, {"Retry-After": "0"}, False)] * 9
    done = comment()
    assert done.returncode == 1
    assert len(api.asked) == 4
    assert "::error title=iacgen::the comment was not written. GitHub answered 500, 4 times" in done.stdout


def test_the_token_follows_no_redirect(api, comment):
    api.instead = [("GET", 302, {"Location": f"{api.url}/elsewhere"}, False)]
    assert comment().returncode == 1
    assert len(api.asked) == 1


def test_a_long_review_is_cut_to_what_github_takes(api, comment):
    review = "<details><summary>slurm.conf</summary>\n\n```diff\n" + "+ NodeName=größe[0001-9999] 🖧\n" * 4000 + "```\n\n</details>\n"
    assert comment(review).returncode == 0
    (body,) = bodies(api)
    assert 64_000 < len(body) <= 65_536
    head, cut = body.split("\n```\n</details>\n")
    assert head.endswith("🖧")
    assert "artifact" in cut


def test_without_a_pull_request_nothing_is_asked(api, comment):
    done = comment(event={"ref": "refs/heads/main"})
    assert done.returncode == 0
    assert "::notice" in done.stdout
    assert not api.asked


def test_a_wrong_token_is_an_error(api, comment, monkeypatch):
    monkeypatch.setattr(sys.modules["iacgen_tests_github_api"], "TOKEN", "another")
    done = comment()
    assert done.returncode == 1
    assert "401" in done.stdout
