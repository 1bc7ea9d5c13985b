"""A whole Slurm cluster on this machine from generated files: munged, slurmctld and one slurmd a node, on loopback. Needs root.

Nothing touches /etc/slurm or systemd. Every daemon runs in the foreground as a child of the test and ends with the block.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iacgen.verify import programs
from iacgen.verify.slurm.controller import started
from iacgen.verify.slurm.installation import Daemon, Installation, free_ports, munged, work_folder
from iacgen.verify.slurm.sandbox import WITHOUT_CGROUPS, cgroup_conf, gres_conf, machine_lines, slurm_conf

_START_S = 60.0


@dataclass(frozen=True)
class Lab:
    """The running cluster: ``folder`` is the cluster's folder, from which jobs are submitted; ``daemons`` have the pids."""

    slurm: Installation
    folder: Path
    ports: range
    daemons: tuple[Daemon, ...]

    def shell(self, command: str, timeout: float = 120.0) -> str:
        """Output of a shell command in the cluster's folder. Raises AssertionError, with all it said, when it fails."""
        done = self.slurm.run("bash", "-c", f"cd {self.folder} && {command}", timeout=timeout)
        assert done.ok, f"{command}: exit {done.code}\n{done.out}{done.err}"
        return done.out

    def states(self) -> dict[str, str]:
        """Node → state as sinfo prints it: ``idle``, ``down``, ``idle*`` when it has not answered."""
        return dict(line.split() for line in self.shell("sinfo --noheader --Node --format='%N %t'").splitlines())


@contextlib.contextmanager
def lab(version: str, tree: Mapping[str, str], nodes: Sequence[str], ready: set[str]) -> Iterator[Lab]:
    """``tree`` (path → text) running on Slurm ``version`` with a slurmd for each of ``nodes``; all of ``ready`` are idle."""
    found = programs.find(f"slurm-{version}")
    assert isinstance(found, programs.Found), found
    with work_folder() as work, contextlib.ExitStack() as stack:
        slurm = Installation(work, found.companion)
        folder = _write(work, tree)
        socket = stack.enter_context(munged(slurm))
        port = free_ports(len(nodes) + 2)
        _configure(work, tree, machine_lines(work, socket, port), version, f"{port + 2}-{port + 1 + len(nodes)}")
        controller = stack.enter_context(slurm.daemon("slurmctld", "slurmctld", "-D", "-i", "-f", work / "slurm.conf"))
        assert started(slurm, controller), controller.said
        daemons = [controller]
        for node in nodes:
            (work / "spool" / node).mkdir()
            daemons.append(stack.enter_context(slurm.daemon(f"slurmd-{node}", "slurmd", "-D", "-N", node, "-f", work / "slurm.conf")))
        running = Lab(slurm, folder, range(port, port + len(nodes) + 2), tuple(daemons))
        stack.callback(_end_jobs, running)
        _wait(running, ready)
        yield running


def _write(work: Path, tree: Mapping[str, str]) -> Path:
    for path, text in tree.items():
        file = work / "cluster" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if text.startswith("#!") else 0o644)
    return work / "cluster"


def _configure(work: Path, tree: Mapping[str, str], machine: Mapping[str, str], version: str, ports: str) -> None:
    """The generated files with this machine's addresses and without control groups; the scheduler hurries, for the test."""
    for name in ("state", "spool"):
        (work / name).mkdir()
    major, minor = version.split(".")
    words = f"NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports}]"
    conf = slurm_conf(tree["slurm/slurm.conf"], {**machine, **WITHOUT_CGROUPS}, words)
    (work / "slurm.conf").write_text(conf.replace("SchedulerParameters=", "SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,"))
    (work / "gres.conf").write_text(gres_conf(tree["slurm/gres.conf"], work))
    for name in ("topology.conf", "topology.yaml"):
        if text := tree.get(f"slurm/{name}"):
            (work / name).write_text(text)
    (work / "cgroup.conf").write_text(cgroup_conf((int(major), int(minor))))


def _end_jobs(running: Lab) -> None:
    """A job outlives its slurmd: what a test left running is cancelled, and killed if that does not help."""
    running.slurm.run("scancel", "--full", "--user=root")
    end = time.monotonic() + 10
    while (jobs := running.slurm.run("squeue", "--noheader").out.strip()) and time.monotonic() < end:
        time.sleep(0.2)
    daemons = {daemon.process.pid for daemon in running.daemons}
    for pid in (int(line.split()[0]) for line in processes_of(running.folder) if jobs):
        if pid not in daemons:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _wait(running: Lab, ready: set[str]) -> None:
    end = time.monotonic() + _START_S
    while (states := running.states()) and {node for node, state in states.items() if state == "idle"} != ready:
        dead = [daemon for daemon in running.daemons if daemon.process.poll() is not None]
        assert not dead, f"{dead[0].name} ended: {dead[0].said}"
        assert time.monotonic() < end, states
        time.sleep(0.2)


def processes_of(folder: Path) -> list[str]:
    """Command lines of the processes that have a file, a folder or an argument below ``folder``."""
    out = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            links = [os.readlink(link) for link in (process / "cwd", *(process / "fd").iterdir()) if link.is_symlink()]
            if int(process.name) != os.getpid() and any(str(folder) in text for text in (command, *links)):
                out.append(f"{process.name} {command}")
    return out


def listening(ports: Sequence[int]) -> dict[int, str]:
    """Those of ``ports`` on which this machine listens, with the address as the kernel prints it."""
    out = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            address, port = local.split(":")
            if state == "0A" and int(port, 16) in ports:
                out[int(port, 16)] = address
    return out
