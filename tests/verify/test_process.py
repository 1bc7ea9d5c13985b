"""Running a program: what it inherits, how it ends, what stays behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from iacgen.verify import process
from iacgen.verify.process import clean_environment, run


def alive(pid: int) -> bool:
    """False also for a zombie: nobody has collected it yet, but it runs no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int, within_s: float = 2.0) -> bool:
    end = time.monotonic() + within_s
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


def test_the_answer_carries_both_streams_the_code_and_the_folder(tmp_path):
    answer = run(("sh", "-c", "pwd; echo oops >&2; exit 3"), cwd=tmp_path)
    assert (answer.out, answer.err, answer.code) == (f"{tmp_path}\n", "oops\n", 3)
    assert not answer.ok and not answer.timed_out


def test_accounts_and_tool_settings_of_the_user_do_not_leak(monkeypatch):
    leaks = (
        "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "ARM_CLIENT_ID", "TF_VAR_region", "TF_CLI_ARGS_plan",
        "TF_CLI_CONFIG_FILE", "ANSIBLE_CONFIG", "SLURM_CONF", "NCCL_DEBUG", "PYTHONPATH", "LC_NUMERIC",
    )  # fmt: skip
    for name in leaks:
        monkeypatch.setenv(name, "leak")
    monkeypatch.setenv("IACGEN_TEST_KEPT", "kept")
    seen = dict(line.split("=", 1) for line in run(("env",), env={"SLURM_CONF": "ours"}).out.splitlines())
    assert "leak" not in seen.values()
    assert (seen["LC_ALL"], seen["SLURM_CONF"], seen["IACGEN_TEST_KEPT"]) == ("C.UTF-8", "ours", "kept")
    assert seen["PATH"] == os.environ["PATH"]


def test_what_the_caller_sets_wins_over_what_is_cleaned():
    assert clean_environment({"LC_ALL": "C", "AWS_REGION": "us-east-2"}).items() >= {("LC_ALL", "C"), ("AWS_REGION", "us-east-2")}


def test_a_program_reads_no_standard_input():
    assert run(("cat",), timeout=5).ok


def test_bytes_that_are_no_text_are_replaced():
    assert run(("printf", r"a\377b")).out == "a\N{REPLACEMENT CHARACTER}b"


def test_a_program_that_does_not_exist_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        run((tmp_path / "absent",))


def test_a_time_out_ends_children_too_and_keeps_what_was_said():
    answer = run(("sh", "-c", "sleep 60 & echo $!; wait"), timeout=0.5)
    assert answer.timed_out and not answer.ok
    assert gone(int(answer.out))


def test_a_child_that_ignores_sigterm_is_killed_with_its_parent():
    answer = run(("sh", "-c", "(trap '' TERM; while :; do sleep 0.1; done) & echo $!; wait"), timeout=0.5)
    assert answer.timed_out
    assert gone(int(answer.out))


def test_a_program_that_ignores_sigterm_is_killed(monkeypatch):
    monkeypatch.setattr(process, "_GRACE_S", 0.2)
    answer = run(("sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"), timeout=0.3)
    assert answer.timed_out and answer.code == -signal.SIGKILL


def test_a_program_that_ends_leaves_no_child_of_its_group():
    answer = run(("sh", "-c", "sleep 60 & echo $!"))
    assert answer.ok
    assert gone(int(answer.out))


def test_a_daemon_that_keeps_the_output_open_does_not_hold_the_call(tmp_path):
    daemon = f"import os, time; os.setsid(); open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    script = '"$0" -c "$1" & while [ ! -s "$2" ]; do sleep 0.05; done'
    answer = run(("sh", "-c", script, sys.executable, daemon, tmp_path / "pid"), timeout=20)
    pid = int((tmp_path / "pid").read_text())
    try:
        assert answer.ok and alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)
