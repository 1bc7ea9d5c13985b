"""One Slurm to run: the machine's own, or that of a Debian tree entered by chroot; and daemons that end with their block."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..process import Completed, clean_environment, run

# Mounts live in a name space of their own and vanish with the process. A fresh /tmp keeps the tree free of our folders.
_ENTER = """
root=$1 work=$2; shift 2
mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && mount --bind /sys "$root/sys" &&
mount -t tmpfs tmpfs "$root/tmp" && mkdir -p "$root$work" && mount --bind "$work" "$root$work" || exit 97
exec chroot "$root" /usr/bin/env -C "$work" "$@"
"""
_CANNOT_MOUNT = 97
_GRACE_S = 8.0


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A folder that everybody may enter, since munged refuses a socket below one that is closed, with a short path, since a
    socket's path has 107 bytes at most. Removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="iacgen-slurm-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class Installation:
    """Slurm's programs with ``work`` as their folder; ``root`` is the tree to enter, None for the machine's own."""

    work: Path
    root: Path | None = None

    def argv(self, *words: str | Path) -> list[str]:
        """``words`` as a command that runs in the installation, in its work folder."""
        plain = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", f"SLURM_CONF={self.work}/slurm.conf", *map(str, words)]
        if self.root is None:
            return ["/usr/bin/env", *plain]
        return ["unshare", "--mount", "bash", "-c", _ENTER, "enter", str(self.root.resolve()), str(self.work), *plain]

    def folder(self, path: str) -> Path:
        """An absolute path of the installation as it is seen from outside."""
        return (self.root or Path("/")) / path.lstrip("/")

    def run(self, *words: str | Path, timeout: float = 60.0) -> Completed:
        """Run a program to its end."""
        return run(self.argv(*words), cwd=self.work, timeout=timeout)

    def cannot_enter(self) -> str:
        """Why nothing can be run here: no root account, or one that may not mount; empty when all is well."""
        if os.geteuid():
            return "not run: needs root"
        if self.root is not None and self.run("true").code == _CANNOT_MOUNT:
            return "not run: needs root with the right to mount, to enter the Debian tree"
        return ""

    @contextlib.contextmanager
    def daemon(self, name: str, *words: str | Path) -> Iterator[Daemon]:
        """A program in the foreground with its output in ``log/<name>.out``; it and its children end with the block."""
        log = self.work / "log" / f"{name}.out"
        log.parent.mkdir(exist_ok=True)
        with log.open("w") as out:
            process = subprocess.Popen(
                self.argv(*words), cwd=self.work, env=clean_environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )
        try:
            yield Daemon(name, process, log)
        finally:
            _end(process)


@dataclass(frozen=True)
class Daemon:
    """A running program and the file that holds what it says."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        """Everything up to now."""
        return self.log.read_text(encoding="utf-8", errors="replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program, then whatever it has left in its process group."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def munged(slurm: Installation) -> Iterator[Path]:
    """The machine's munged with a key and a socket of its own, for every generation of Slurm; yields the socket.

    Raises RuntimeError when it does not come up.
    """
    folder, socket_path = slurm.work / "munge", slurm.work / "run" / "munge.socket.2"
    folder.mkdir(mode=0o700)
    socket_path.parent.mkdir(mode=0o755)
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    files = [f"--{kind}={folder}/munged.{kind}" for kind in ("pid-file", "log-file", "seed-file")]
    host = Installation(slurm.work)
    with host.daemon("munged", "munged", "--foreground", f"--socket={socket_path}", f"--key-file={key}", *files) as daemon:
        end = time.monotonic() + 20
        while not _answers(socket_path):
            if daemon.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"munged did not start: {daemon.said.strip()}")
            time.sleep(0.02)
        yield socket_path


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def free_ports(count: int) -> int:
    """The first of ``count`` consecutive loopback ports that are free, below those that the kernel hands out.

    Tried in a random order: another judge may be looking at the same time, and a port is only taken when its daemon starts.
    """
    for first in random.sample(range(21000, 32000, count), 11000 // count):
        with contextlib.ExitStack() as held:
            try:
                for port in range(first, first + count):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise RuntimeError(f"no {count} consecutive free ports")
