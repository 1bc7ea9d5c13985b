"""Put a review under a pull request, as one comment that later runs update: ``comment.py FILE``.

Runs beside ``action.yml`` on any Python from 3.11, with the standard library alone. GitHub's own variables say where:
GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_EVENT_PATH; GITHUB_TOKEN is the job's token, sent in a header and never printed.

Exit 0 when the comment stands, and when the token may not write it (a fork's pull request): the review is in the summary and the
artifact too. Exit 1 when GitHub refuses what was sent or does not answer: an older comment still stands there then.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARKER = "<!-- iacgen review -->"
AUTHOR = "github-actions[bot]"  # who writes with a job's token
LIMIT = 65_536  # characters in a comment; GitHub answers 422 "Body is too long (maximum is 65536 characters)" above
CUT = "\n\n**Cut here: a comment holds 65,536 characters. The whole review is in the job's artifact.**\n"
PAGES = 100  # of 100 comments each
ATTEMPTS = 4
PATIENCE = 60  # seconds, the longest wait that is asked for and granted


class Refused(Exception):
    """GitHub answered with an error: its status and words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(f"GitHub answered {status}: {words}")
        self.status = status


class Later(Exception):
    """GitHub did not answer, or asks for patience: why, and for how many seconds (None where it does not say)."""

    def __init__(self, why: str, seconds: float | None = None) -> None:
        super().__init__(why)
        self.seconds = seconds


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The token goes to the one address it is meant for."""

    def redirect_request(self, *_args: object, **_more: object) -> None:
        return None


@dataclass(frozen=True)
class GitHub:
    """The REST API, with a token."""

    url: str
    token: str

    def ask(self, method: str, path: str, body: object = None) -> tuple[object, str]:
        """The answer and its Link header."""
        data = None if body is None else json.dumps(body).encode()
        headers = {
            "Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "iacgen", "Content-Type": "application/json",
        }  # fmt: skip
        request = urllib.request.Request(self.url.rstrip("/") + path, data, headers, method=method)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=30) as answer:
                return json.loads(answer.read() or b"null"), answer.headers.get("Link", "")
        except urllib.error.HTTPError as error:
            raise _error(error) from None
        except (OSError, ValueError) as error:  # no answer, or one that is no JSON
            raise Later(f"GitHub did not answer: {error}") from None


def _error(error: urllib.error.HTTPError) -> Exception:
    """What an answer other than 2xx means. Too many requests are 429 or 403, the latter with Retry-After."""
    wait = error.headers.get("Retry-After", "")
    if error.code == 429 or error.code >= 500 or (error.code == 403 and wait):
        return Later(f"GitHub answered {error.code}", float(wait) if wait.isdigit() else None)
    try:
        words = str(json.loads(error.read())["message"])
    except (OSError, ValueError, KeyError, TypeError):
        words = str(error.reason)
    return Refused(error.code, words)


def fitted(review: str) -> str:
    """The comment's text: the marker, then the review, cut at a line's end where it is too long, with what is open closed."""
    whole = f"{MARKER}\n{review}"
    if len(whole) <= LIMIT:
        return whole
    kept = whole[: LIMIT - len(CUT) - 200].rpartition("\n")[0]
    fence = "\n```" if len(re.findall(r"^```", kept, flags=re.MULTILINE)) % 2 else ""
    open_folds = kept.count("<details") - kept.count("</details>")
    return kept + fence + "\n</details>" * min(max(open_folds, 0), 10) + CUT


def _comments(github: GitHub, issue: str) -> Iterator[dict]:
    for page in range(1, PAGES + 1):
        found, link = github.ask("GET", f"{issue}/comments?per_page=100&page={page}")
        yield from found
        if 'rel="next"' not in link:
            return


def _own(github: GitHub, issue: str) -> int | None:
    """The comment that an earlier run wrote. The marker alone is no proof: anybody can write it."""
    marked = {c["user"]["login"]: c["id"] for c in _comments(github, issue) if (c.get("body") or "").startswith(MARKER) and c.get("user")}
    if not marked or AUTHOR in marked:
        return marked.get(AUTHOR)
    try:
        return marked.get(github.ask("GET", "/user")[0]["login"])  # a token of a person or a machine account
    except Refused:
        return None  # a job's token is nobody


def publish(github: GitHub, repository: str, number: int, body: str) -> str:
    """Update the comment that is there, else write one; says which."""
    issue = f"/repos/{repository}/issues/{number}"
    own = _own(github, issue)
    if own is not None:
        try:
            github.ask("PATCH", f"/repos/{repository}/issues/comments/{own}", {"body": body})
            return "updated"
        except Refused as error:
            if error.status != 404:  # somebody deleted it meanwhile
                raise
    github.ask("POST", f"{issue}/comments", {"body": body})
    return "written"


def patiently(github: GitHub, repository: str, number: int, body: str) -> str:
    """``publish``, tried again from its start: a lost answer may be one to a comment that was written, and it is found then."""
    for attempt in range(1, ATTEMPTS):
        try:
            return publish(github, repository, number, body)
        except Later as later:
            wait = min(later.seconds if later.seconds is not None else 2.0**attempt, PATIENCE)
            print(f"{later}; again in {wait:g} s")
            time.sleep(wait)
    return publish(github, repository, number, body)


def _say(level: str, words: str) -> None:
    """A line in the job's log that GitHub shows beside the run."""
    print(f"::{level} title=iacgen::{words.replace('%', '%25').replace(chr(13), '%0D').replace(chr(10), '%0A')}")


def main(file: str) -> int:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = event.get("pull_request", {}).get("number")
    if not isinstance(number, int):
        _say("notice", "no pull request, so no comment; the review is in the job summary")
        return 0
    github = GitHub(os.environ.get("GITHUB_API_URL", "https://api.github.com"), os.environ["GITHUB_TOKEN"])
    try:
        print(f"comment {patiently(github, os.environ['GITHUB_REPOSITORY'], number, fitted(Path(file).read_text(encoding='utf-8')))}")
    except Refused as error:
        if error.status in (403, 404):
            _say("notice", f"the token may not comment here ({error}), as with a fork's pull request; the review is in the job summary and the artifact")
            return 0
        _say("error", f"the comment was not written. {error}")
        return 1
    except Later as later:
        _say("error", f"the comment was not written. {later}, {ATTEMPTS} times")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
