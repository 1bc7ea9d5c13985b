"""Run one program: clean environment, time limit, no process left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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
    three seconds later; what is left of the group dies too when the program ends by itself, so that no Terraform provider or
    Ansible worker outlives its parent. A daemon that opens a session of its own is its caller's to stop.
    A program that does not exist raises FileNotFoundError; a failing one is a value.
    """
    words = tuple(str(a) for a in argv)
    began = time.monotonic()
    # Files, not pipes: a daemon that keeps a pipe open would hold the call until the time limit.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            words, cwd=cwd, env=clean_environment(env), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        timed_out = False
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            _signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
        finally:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
        return Completed(words, process.returncode, _text(out), _text(err), time.monotonic() - began, timed_out)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
