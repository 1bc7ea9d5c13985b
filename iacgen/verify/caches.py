"""Ask Redis and memcached: does a server of a job's cache start with its file, and take the memory, clients and threads of the plan?

The server runs in a temporary folder, reached by a socket there, and ends with the call. Before it starts, every line of its file is held
against the plan, since a tree may be a stranger's.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from . import programs
from .findings import finding
from .judging import NOT_APPLICABLE, Outcome, timed
from .process import clean_environment
from .readable import unreadable
from .verdict import Verdict

_START_S = 20.0


@dataclass(frozen=True)
class Judge:
    """One kind of server."""

    kind: str
    program: str

    @property
    def READS(self) -> tuple[str, ...]:
        return (f"training/*/{self.kind}.conf",)

    def applies(self, tree: Path) -> bool:
        """True when the tree holds a file of such a server."""
        return any(tree.glob(self.READS[0]))

    def verify(self, tree: Path, project: Any) -> Verdict:
        """The verdict on ``tree``, of which ``project`` has the ``design`` and the ``jobs``."""
        return timed(self.kind, self.program, lambda: self._judge(tree, project))

    def _judge(self, tree: Path, project: Any) -> Outcome:
        jobs = [name for name, job in sorted(project.jobs.items()) if job.reading.input.cache and job.reading.input.cache.kind == self.kind]
        if not jobs and not self.applies(tree):
            return NOT_APPLICABLE
        found = programs.find(self.kind)
        if isinstance(found, programs.Missing):
            return "missing", [finding("cache-not-judged", str(found))], None
        findings = list(self._files(tree, jobs)) or list(unreadable(tree, self.READS))
        findings = findings or [f for name in jobs for f in self._of_job(tree, project.jobs[name], project.design, found.path)]
        return "failed" if findings else "passed", findings, found.version

    def _files(self, tree: Path, jobs: list[str]) -> Iterator[Diagnostic]:
        here = {path.parent.name for path in tree.glob(self.READS[0])}
        for name in sorted({*jobs} - here):
            yield finding("training-file-missing", f"training/{name}/{self.kind}.conf is missing")
        for name in sorted(here - {*jobs}):
            yield finding("training-file-missing", f"training/{name}/{self.kind}.conf belongs to no such job of the blueprint")

    def _of_job(self, tree: Path, job: Any, design: Any, program: Path) -> Iterator[Diagnostic]:
        name = f"training/{job.name}/{self.kind}.conf"
        text = (tree / name).read_text(encoding="utf-8")
        said = [line for line in text.split("\n") if line and not line.startswith("#")]
        planned = (_redis if self.kind == "redis" else _memcached)(job, design)
        for line in planned:
            if line not in said:
                yield finding("cache-not-of-plan", f"{name}: `{line}` is missing", job.spec.origin)
        for line in said:
            if line not in planned:
                yield finding("cache-not-of-plan", f"{name}: `{line}` is not of the plan", job.spec.origin)
        if said != planned:
            return
        with tempfile.TemporaryDirectory(prefix="iacgen-cache-") as work:
            try:
                got = (_ask_redis if self.kind == "redis" else _ask_memcached)(program, tree / name, Path(work))
            except (OSError, ValueError) as fault:
                yield finding("cache-refused", f"{name}: {self.program} does not start: {fault}", job.spec.origin)
                return
        for key, value in (_redis_takes if self.kind == "redis" else _memcached_takes)(job, design).items():
            if got.get(key) != value:
                yield finding("cache-refused", f"{name}: {self.program} takes {key} {got.get(key)}, where {value} is meant", job.spec.origin)


def _figures(job: Any, design: Any) -> tuple[int, int, int]:
    """Bytes of memory, clients and threads of one server."""
    it, cache = job.reading, job.reading.input.cache
    return int(cache.memory_bytes * (0.75 if cache.kind == "redis" else 0.9)), it.readers * it.workers + 32, min(8, design.pools[cache.pool].system.cpus)


def _item_mib(job: Any) -> int:
    """The largest item: a sample, its key and header, in MiB."""
    return max(1, -(-(job.reading.sample_bytes + 512) // 2**20))


def _redis(job: Any, design: Any) -> list[str]:
    memory, clients, threads = _figures(job, design)
    return [
        "port 6379", "bind * -::*", "protected-mode no", f"maxmemory {memory}", "maxmemory-policy allkeys-lru", 'save ""', "appendonly no",
        f"maxclients {clients}", "tcp-backlog 4096", f"io-threads {threads}", "lazyfree-lazy-eviction yes",
    ]  # fmt: skip


def _redis_takes(job: Any, design: Any) -> dict[str, str]:
    memory, clients, threads = _figures(job, design)
    return {
        "maxmemory": str(memory), "maxmemory-policy": "allkeys-lru", "save": "", "appendonly": "no", "maxclients": str(clients),
        "tcp-backlog": "4096", "io-threads": str(threads), "lazyfree-lazy-eviction": "yes",
    }  # fmt: skip


def _memcached(job: Any, design: Any) -> list[str]:
    memory, clients, threads = _figures(job, design)
    return ["-l 0.0.0.0", "-p 11211", "-U 0", "-u memcache", f"-m {memory // 2**20}", f"-I {_item_mib(job)}m", f"-c {clients}", f"-t {threads}"]


def _memcached_takes(job: Any, design: Any) -> dict[str, str]:
    memory, clients, threads = _figures(job, design)
    return {"maxbytes": str(memory // 2**20 * 2**20), "maxconns": str(clients), "num_threads": str(threads), "item_size_max": str(_item_mib(job) * 2**20), "udpport": "0"}


def _ask_redis(program: Path, conf: Path, work: Path) -> Mapping[str, str]:
    """What CONFIG GET says of a server that was started with the file. No port is opened, whatever the file says."""
    place = work / "redis.sock"
    with _server([program, conf, "--port", "0", "--unixsocket", place, "--dir", work, "--daemonize", "no", "--bind", "127.0.0.1"], work, place) as ask:
        ask.sendall(b"*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$1\r\n*\r\n")
        words = _strings(ask)
    return dict(zip(words[::2], words[1::2], strict=True))


def _strings(ask: socket.socket) -> list[str]:
    """A reply of RESP that is an array of strings."""
    with ask.makefile("rb") as reader:
        head = reader.readline()
        if not head.startswith(b"*"):
            raise ValueError(head.decode(errors="replace").strip())
        out = []
        for _ in range(int(head[1:])):
            size = int(reader.readline()[1:])
            out.append(reader.read(size + 2)[:-2].decode(errors="replace"))
    return out


def _ask_memcached(program: Path, conf: Path, work: Path) -> Mapping[str, str]:
    """What ``stats settings`` says of a server that was started as Debian's unit does: with the words of the file."""
    place = work / "memcached.sock"
    words = [word for line in conf.read_text(encoding="utf-8").split("\n") if line.startswith("-") for word in line.split(" ")]
    with _server([program, *words, "-u", "root", "-s", place], work, place) as ask:
        ask.sendall(b"stats settings\r\n")
        with ask.makefile("rb") as reader:
            lines = iter(lambda: reader.readline().decode(errors="replace").strip(), "END")
            return dict(line.removeprefix("STAT ").partition(" ")[::2] for line in lines if line.startswith("STAT "))


@contextlib.contextmanager
def _server(argv: list[str | Path], work: Path, place: Path) -> Iterator[socket.socket]:
    """A connection to a server that ends with the block. Raises ValueError with what it said when it does not answer."""
    with (work / "said").open("w") as said:
        server = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, cwd=work, env=clean_environment(), start_new_session=True)
    try:
        end = time.monotonic() + _START_S
        with socket.socket(socket.AF_UNIX) as ask:
            ask.settimeout(_START_S)
            while ask.connect_ex(str(place)):
                if server.poll() is not None or time.monotonic() > end:
                    raise ValueError((work / "said").read_text(errors="replace").strip()[-300:] or "it does not answer")
                time.sleep(0.05)
            yield ask
    finally:
        server.terminate()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(5)


REDIS = Judge("redis", "redis-server")
MEMCACHED = Judge("memcached", "memcached")
