"""Run one program: clean environment, time limit, no process left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# A developer's accounts and settings must not leak into a verdict.
_DROPPED_PREFIXES = (
    "AWS_", "GOOGLE_", "GCLOUD_", "CLOUDSDK_", "ARM_", "AZURE_", "OCI_",
    "TF_VAR_", "TF_CLI_ARGS", "TF_CLI_CONFIG_FILE", "TF_LOG", "TF_WORKSPACE", "TF_DATA_DIR",
    "ANSIBLE_", "SLURM_", "SBATCH_", "SALLOC_", "SRUN_", "NCCL_", "DS_", "PYTHON",
)  # fmt: skip
_GRACE_S = 3.0


@dataclass(frozen=True)
class Completed:
    """How a program ended. ``code`` is its exit code, negative for a signal; ``seconds`` is wall time."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str
    seconds: float
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Ended by itself with exit code 0."""
        return self.code == 0 and not self.timed_out


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without cloud accounts and tool settings, in the C.UTF-8 locale, with ``extra`` on top."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_DROPPED_PREFIXES) and not k.startswith("LC_")}
    return {**kept, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", **(extra or {})}


def run(
    argv: Sequence[str | Path],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 60.0,
) -> Completed:
    """Run ``argv`` to its end and return what it said.

    ``env`` is laid over :func:`clean_environment`. After ``timeout`` seconds the whole process group gets SIGTERM, and SIGKILL
    three seconds later: a Terraform provider or an Ansible worker dies with its parent. A program that does not exist raises
    FileNotFoundError; a failing one is a value.
    """
    words = tuple(str(a) for a in argv)
    began = time.monotonic()
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env=clean_environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    timed_out = False
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        out, err = _end(process)
    except BaseException:
        _end(process)
        raise
    return Completed(words, process.returncode, out, err, time.monotonic() - began, timed_out)


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """End the whole group and read what is left in its pipes."""
    _signal_group(process.pid, signal.SIGTERM)
    out: str | bytes | None = ""
    err: str | bytes | None = ""
    with contextlib.suppress(subprocess.TimeoutExpired):
        out, err = process.communicate(timeout=_GRACE_S)
    # Also when the leader is gone: a child that ignores SIGTERM may outlive it.
    _signal_group(process.pid, signal.SIGKILL)
    if process.returncode is None:
        try:
            out, err = process.communicate(timeout=_GRACE_S)
        except subprocess.TimeoutExpired as late:  # something that left the group holds the pipes open
            out, err = late.stdout, late.stderr
            process.wait()
    return _text(out), _text(err)


def _text(raw: bytes | str | None) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw or ""


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
