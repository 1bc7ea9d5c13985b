"""As much of GitHub's REST API as a comment needs, on a free port of the loopback."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "ghs_0123456789secret"
BOT = "github-actions[bot]"


@dataclass
class Api:
    """What stands under pull request 7 of octo/lab, what was asked, and the answers that come before the true ones.

    ``instead`` holds (method, status, headers, lost) in order: the next request of that method gets that answer; with ``lost`` its work is
    done all the same. ``page`` is how many comments one page has; ``login`` is whose token it is, None for a job's own.
    """

    comments: list[dict] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    instead: list[tuple[str, int, dict[str, str], bool]] = field(default_factory=list)
    page: int = 100
    login: str | None = None
    url: str = ""

    def add(self, body: str, login: str = BOT) -> dict:
        self.comments.append({"id": 1000 + len(self.comments), "body": body, "user": {"login": login}})
        return self.comments[-1]

    def answer(self, method: str, target: str, body: dict | None) -> tuple[int, object, dict[str, str]]:
        """Status, JSON and headers, after doing what is asked."""
        parts = urlsplit(target)
        if (method, parts.path) == ("GET", "/user"):
            return (200, {"login": self.login}, {}) if self.login else (403, {"message": "Resource not accessible by integration"}, {})
        if parts.path == "/repos/octo/lab/issues/7/comments":
            if method == "POST":
                return self._checked(body) or (201, self.add(body["body"], self.login or BOT), {})
            number = int(parse_qs(parts.query)["page"][0])
            more = number * self.page < len(self.comments)
            return 200, self.comments[(number - 1) * self.page : number * self.page], {"Link": f'<{self.url}{parts.path}?page={number + 1}>; rel="next"'} if more else {}
        one = re.fullmatch(r"/repos/octo/lab/issues/comments/(\d+)", parts.path)
        found = next((c for c in self.comments if one and c["id"] == int(one[1])), None)
        if found is None or method != "PATCH":
            return 404, {"message": "Not Found"}, {}
        if not (refused := self._checked(body)):
            found["body"] = body["body"]
        return refused or (200, found, {})

    @staticmethod
    def _checked(body: dict) -> tuple[int, object, dict[str, str]] | None:
        return (422, {"message": "Body is too long (maximum is 65536 characters)"}, {}) if len(body["body"]) > 65_536 else None


def _handler(api: Api) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            api.asked.append((self.command, self.path))
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                return self._send(401, {"message": "Bad credentials"}, {})
            early = api.instead.pop(0) if api.instead and api.instead[0][0] == self.command else None
            if early is None or early[3]:
                status, answer, headers = api.answer(self.command, self.path, json.loads(sent) if sent else None)
            if early is not None:
                status, answer, headers = early[1], {"message": "Resource not accessible by integration"}, early[2]
            return self._send(status, answer, headers)

        def _send(self, status: int, answer: object, headers: dict[str, str]) -> None:
            data = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(data))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _do  # noqa: N815

        def log_message(self, *_args: object) -> None:
            pass

    return Handler


@contextmanager
def serving() -> Iterator[Api]:
    """An API that answers until the block ends."""
    api = Api()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
