"""A value that Slurm does not take for its key.

Why: slurmctld and every slurmd end at most of them: at a unit behind a number, at two words where one is wanted, at a limit of no job, at
a word of debugging or of preemption that they do not know. Others they pass over and go on with the default, with an error line at
every start or without any: a port range from above or up to 65535, a misspelt word of PrivateData, an interval of the scheduler that is
no number. A number that begins with nought they read as octal: 016 is 14.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl, parameters: {DefMemPerGPU: [200G], TreeWidth: ["16", "32"], MaxJobCount: ["0"]}}

Good: ``DefMemPerGPU: ["200000"]``, in MiB; ``TreeWidth: ["16"]``; ``MaxJobCount: ["50000"]``.

Source: slurm.conf(5); slurmctld 22.05.8 and 24.11.5 end at "DefMemPerGPU value (200G) is not a valid number" and "MaxJobCount=0, No
jobs permitted", say "Invalid SchedulerParameters bf_interval: 0", and start in silence with SrunPortRange=60001-60000 and
PrivateData=acounts (measured, as is every limit of the other keys).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import queues
from ..nearest import nearest
from ..rule import Found, rule
from ..slurm_keys import LISTS, SINGLE, version_of, words as words_of
from ..slurm_values import wrong

LATER = (99, 11)  # of a key that no version has, more is said elsewhere


@rule("IAC552", "not-a-slurm-value")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    version = version_of(scheduler.version) if scheduler else LATER
    for key, words in scheduler.parameters.items() if scheduler else ():
        known = words_of(key) if key in LISTS else {}
        for i, word in enumerate(words):
            since = known.get(word.partition("=")[0], (LATER,))[0] if key in LISTS else SINGLE.get(key, LATER)
            if since > version:
                continue
            if why := wrong(key, i, word, version) or _missing(blueprint, key, word):
                yield Found(f"{word} is no value of {key}", ("scheduler", "parameters", key, i), help=why)


def _missing(blueprint: Blueprint, key: str, word: str) -> str | None:
    """A hint for a host or partition that is none; slurmctld never says so."""
    if key == "SuspendExcParts" and word not in (known := queues(blueprint)):
        return nearest(word, known)
    if key == "SuspendExcNodes" and not _is_host(blueprint, word.partition(":")[0]):
        return "write the name of a host in some partition"
    return None


def _is_host(blueprint: Blueprint, host: str) -> bool:
    pool = host.rstrip("0123456789")
    section, number = blueprint.nodes.get(pool), host[len(pool) :]
    queued = any(pool in pools for pools in queues(blueprint).values())
    return queued and section is not None and len(number) == section.width and 1 <= int(number) <= section.count
