"""What tests of several real programs start: a local AWS."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from iacgen.verify import programs
from iacgen.verify.process import clean_environment

HERE = Path(__file__).parent


@dataclass(frozen=True)
class LocalAws:
    """Where it answers, and the file that its requests are written to."""

    url: str
    log: Path

    @property
    def complaints(self) -> str:
        """Its last words beside the requests that went well: a refusal at a client often has its cause in an earlier one."""
        return "\n".join([line for line in self.log.read_text().splitlines() if '" 200 -' not in line][-40:])


@contextmanager
def started(folder: Path) -> Iterator[LocalAws]:
    """A moto server on a free port of the loopback, up until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    aws = LocalAws(f"http://127.0.0.1:{port}", folder / "log")
    with aws.log.open("w") as out:
        server = subprocess.Popen([programs.find("moto").path, HERE / "moto_plus.py", str(port)], stdout=out, stderr=subprocess.STDOUT, env=clean_environment())
    try:
        _wait_for(f"{aws.url}/moto-api/", server, aws.log)
        yield aws
    finally:
        server.terminate()
        server.wait(10)


def _wait_for(url: str, server: subprocess.Popen, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(url, timeout=2).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"moto does not answer: {log.read_text()}")


@pytest.fixture(scope="module")
def aws(tmp_path_factory) -> Iterator[LocalAws]:
    """A local AWS that ends with the module's tests."""
    with started(tmp_path_factory.mktemp("moto")) as aws:
        yield aws
