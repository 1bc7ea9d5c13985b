"""Generated files made runnable on one machine: loopback addresses, free ports, files of our own. All else stays as it is."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

# Only what names a machine, an account or a file of the real cluster. A misspelt one of these keys is not among them and
# so reaches the daemon.
MACHINE_KEYS = frozenset(
    """slurmctldhost slurmctldport slurmdport slurmuser slurmduser authinfo statesavelocation slurmdspooldir slurmctldpidfile
    slurmdpidfile slurmctldlogfile slurmdlogfile communicationparameters slurmdparameters""".split()
)
# What slurmd can do without control groups, which a container has not: see cgroup_conf.
WITHOUT_CGROUPS = {"ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "PrologFlags": "Alloc"}
_CHARACTER_DEVICE = os.makedev(1, 3)  # of /dev/null: gres.conf accepts any character device as a GPU


def machine_lines(work: Path, munge_socket: Path, port: int) -> dict[str, str]:
    """The keys of :data:`MACHINE_KEYS` for this machine. slurmctld takes ``port``, slurmd the next ones."""
    return {
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": str(port),
        "SlurmdPort": str(port + 1),
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "AuthInfo": f"socket={munge_socket}",
        "StateSaveLocation": f"{work}/state",
        "SlurmdSpoolDir": f"{work}/spool/%n",
        "SlurmctldPidFile": f"{work}/slurmctld.pid",
        "SlurmdPidFile": f"{work}/slurmd-%n.pid",
        "SlurmctldLogFile": f"{work}/log/slurmctld.log",
        "SlurmdLogFile": f"{work}/log/slurmd-%n.log",
        "CommunicationParameters": "NoCtldInAddrAny,NoInAddrAny",  # listen on loopback alone
        "SlurmdParameters": "config_overrides",  # this machine has neither the cores nor the memory of a node
    }


def slurm_conf(text: str, machine: Mapping[str, str], node_words: str = "NodeAddr=127.0.0.1") -> str:
    """slurm.conf with the keys of ``machine`` in place of its own, and ``node_words`` for every node's address."""
    gone = MACHINE_KEYS | {key.lower() for key in machine}
    kept = [line for line in text.splitlines() if line.partition("=")[0].strip().lower() not in gone]
    kept = [re.sub(r"^(NodeName=\S+)( NodeAddr=\S+)?", rf"\1 {node_words}", line, flags=re.IGNORECASE) for line in kept]
    return "\n".join([*(f"{key}={value}" for key, value in machine.items()), *kept]) + "\n"


def cgroup_conf(version: tuple[int, int]) -> str:
    """cgroup.conf for a slurmd that has no control groups; 22.05 does not know ``disabled`` but tries nothing either."""
    return "CgroupPlugin=disabled\n" if version >= (24, 11) else "CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n"


def gres_conf(text: str, work: Path) -> str:
    """gres.conf with its device files below ``work/dev``, which are made: real files of /dev are neither needed nor touched."""
    (work / "dev").mkdir(exist_ok=True)
    for prefix, low, high in re.findall(r"File=/dev/([A-Za-z]+)\[?(\d+)(?:-(\d+))?", text):
        for number in range(int(low), int(high or low) + 1):
            device = work / "dev" / f"{prefix}{number}"
            if not device.exists():
                os.mknod(device, stat.S_IFCHR | 0o666, _CHARACTER_DEVICE)
    return text.replace("File=/dev/", f"File={work}/dev/")
