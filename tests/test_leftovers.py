"""What CI says about processes and sockets that a test run leaves behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "real" / "leftovers.py"


@pytest.fixture
def marked(monkeypatch):
    """A mark that no other process carries."""
    monkeypatch.setenv("IACGEN_RUN", f"leftovers-{os.getpid()}")


@pytest.fixture
def after(marked, tmp_path, monkeypatch):
    """Takes the state now; gives back what is found new later, told apart from what other tests do at the same time."""
    taken = subprocess.run([sys.executable, SCRIPT, "before"], capture_output=True, text=True, check=True)
    file = tmp_path / "before.json"
    file.write_text(taken.stdout)

    def compare(ours: str) -> tuple[int, list[str]]:
        result = subprocess.run([sys.executable, SCRIPT, "after", file, "0"], capture_output=True, text=True)
        return result.returncode, [line for line in result.stderr.splitlines() if ours in line]

    return compare


def test_a_process_of_this_run_is_named(after):
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            code, lines = after(f"process {sleeper.pid}: ")
        finally:
            sleeper.kill()
    assert (code, lines) == (1, [f"left behind: process {sleeper.pid}: sleep 60"])


def test_a_daemon_with_an_environment_of_its_own_is_named(after, tmp_path):
    daemon = tmp_path / "munged"
    daemon.write_text("import time; time.sleep(60)")
    with subprocess.Popen([sys.executable, daemon], env={}) as started:
        try:
            code, lines = after(f"process {started.pid}: ")
        finally:
            started.kill()
    assert code == 1 and len(lines) == 1


@pytest.mark.parametrize("family, host", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")], ids=["IPv4", "IPv6"])
def test_a_listening_socket_is_named(after, family, host):
    with socket.socket(family) as server:
        server.bind((host, 0))
        server.listen()
        address = f"{host}:{server.getsockname()[1]}"
        code, lines = after(address)
    assert (code, lines) == (1, [f"left behind: listening on {address}"])


def test_what_was_there_before_and_what_has_ended_are_not_named(marked, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        before = subprocess.run([sys.executable, SCRIPT, "before"], capture_output=True, text=True, check=True)
        (tmp_path / "before.json").write_text(before.stdout)
        subprocess.run(["true"], check=True)
        after = subprocess.run([sys.executable, SCRIPT, "after", tmp_path / "before.json", "0"], capture_output=True, text=True)
        assert f":{server.getsockname()[1]}" not in after.stderr
    assert f"process {os.getpid()}:" not in after.stderr
