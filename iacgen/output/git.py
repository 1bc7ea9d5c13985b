"""Read files as they were at a revision of a Git repository. Nothing of the repository is changed and none of its hooks runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from .disk import OutputError

_TIMEOUT_S = 60


def revision(word: str, folder: Path) -> str | None:
    """The id of the commit that ``word`` names in the repository around ``folder``; None where it names none, or there is no repository."""
    if not word or word.startswith("-") or "\0" in word:
        return None
    done = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    return done.stdout.decode().strip() or None if done.returncode == 0 else None


def listing(commit: str, folder: Path) -> dict[str, str]:
    """The regular files at ``commit`` in and below ``folder``: path from it → id of the content, sorted. Raises OutputError where Git cannot
    tell."""
    done = _git(folder, "ls-tree", "-r", "-z", commit, "--", ".")
    if done.returncode:
        raise OutputError(f"git cannot list {commit[:12]}: {_said(done)}")
    rows = [row.split("\t", 1) for row in done.stdout.decode("utf-8", "surrogateescape").split("\0") if row]
    return dict(sorted((path, head.split()[2]) for head, path in rows if head.startswith("100")))


def content(commit: str, path: str, folder: Path, most: int) -> bytes | None:
    """The bytes, at most ``most + 1``, of the file at ``path`` (from ``folder``) at ``commit``; None where no file stands there."""
    name = f"{commit}:./{path}"
    kind = _git(folder, "cat-file", "-t", name)
    if kind.returncode or kind.stdout.strip() != b"blob":
        return None
    done = _git(folder, "cat-file", "blob", name)
    return done.stdout[: most + 1] if done.returncode == 0 else None


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    # Variables of a hook that calls this would point Git at another repository or index.
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    try:
        return subprocess.run(["git", "--no-pager", *words], cwd=folder, env=env, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(words, 127, b"", b"git is not on PATH")
    except subprocess.TimeoutExpired:
        raise OutputError(f"git {words[0]} took more than {_TIMEOUT_S} s") from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
