"""What each Slurm version may be told: words of the ``*Params`` lists with the first and the last version that knows them.

slurmctld refuses a wrong key and a wrong word of PrologFlags or SelectTypeParameters, but takes any word in TopologyParam,
SchedulerParameters and LaunchParameters without a message, so these lists are all that keeps a word from an older cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

Version = tuple[int, int]
_FIRST: Version = (0, 0)
_LAST: Version = (99, 12)


@dataclass(frozen=True)
class Word:
    """One word under one key, right from version ``since`` to version ``until``, both included; ``topology``: with that plugin alone."""

    key: str
    word: str
    since: Version = _FIRST
    until: Version = _LAST
    topology: str = ""


# Gates: Slurm's change log and manuals; SelectTypeParameters and PrologFlags tried on 22.05.8 and 24.11.5.
WORDS = (
    Word("TopologyParam", "SwitchAsNodeRank", since=(23, 2), topology="tree"),  # plain srun jobs get their ranks switch by switch
    Word("TopologyParam", "RouteTree", since=(23, 11), topology="tree"),  # messages follow the tree; before: RoutePlugin, now ignored
    Word("PrologFlags", "Alloc"),
    Word("PrologFlags", "Contain"),
    Word("LaunchParameters", "use_interactive_step"),
    Word("SelectTypeParameters", "CR_Core_Memory"),
    Word("SelectTypeParameters", "CR_CORE_DEFAULT_DIST_BLOCK"),
    Word("SelectTypeParameters", "CR_ONE_TASK_PER_CORE"),
    Word("SchedulerParameters", "bf_continue"),
    Word("SchedulerParameters", "bf_window=10080"),  # minutes: as far ahead as the longest default job
    Word("SchedulerParameters", "bf_resolution=600"),
    Word("SchedulerParameters", "max_switch_wait=86400"),  # caps what a user asks with --switches; 300 s by default
    Word("SchedulerParameters", "nohold_on_prolog_fail"),  # requeue elsewhere rather than hold
)


IMEX_SINCE: Version = (24, 5)
"""The first version with switch/nvidia_imex (Slurm's release notes)."""


def parse_version(text: str) -> Version:
    """``"24.11"`` or ``"24.11.5"`` → (24, 11). Raises ValueError on anything else."""
    major, minor, *_ = text.split(".")
    return int(major), int(minor)


def word_lists(version: Version, topology: str = "tree") -> dict[str, str]:
    """Key → comma list of the words that ``version`` knows with the plugin topology/<topology>, in the table's order; empty where there are none."""
    known = [w for w in WORDS if w.since <= version <= w.until and w.topology in ("", topology)]
    return {key: ",".join(w.word for w in known if w.key == key) for key in dict.fromkeys(w.key for w in WORDS)}


def pid_files(version: Version) -> dict[str, str]:
    """Where each daemon's unit lets it write: slurmctld's runs as SlurmUser from 23.11 on and owns a folder below /run."""
    if version < (23, 11):
        return {"slurmctld": "/run/slurmctld.pid", "slurmd": "/run/slurmd.pid"}
    return {"slurmctld": "/run/slurmctld/slurmctld.pid", "slurmd": "/run/slurm/slurmd.pid"}
