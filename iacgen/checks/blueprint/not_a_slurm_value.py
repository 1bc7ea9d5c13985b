"""A value that Slurm does not take for its key.

Why: most numbers are numbers alone, without the unit that sbatch would take: slurmctld and every slurmd end with "is not a valid
number". Worse are the keys whose values they do not look at: a port range from above or beyond 65535, a misspelt word of PrivateData.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl, parameters: {DefMemPerGPU: [200G]}}

Good: ``DefMemPerGPU: ["200000"]``, in MiB.

Source: slurm.conf(5); slurmctld 22.05.8 and 24.11.5 end at "DefMemPerGPU value (200G) is not a valid number" and start with
SrunPortRange=60001-60000 and PrivateData=jobz (measured).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule
from ..slurm_keys import NUMBERS, PRIVATE, SINGLE, version_of

LATER = (99, 11)  # of a key that no version has, more is said elsewhere


@rule("IAC552", "not-a-slurm-value")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    for key, words in sorted(scheduler.parameters.items()) if scheduler else ():
        for i, word in enumerate(words if SINGLE.get(key, LATER) <= version_of(scheduler.version) else ()):
            if why := _wrong(key, word):
                yield Found(f"{word} is no value of {key}", ("scheduler", "parameters", key, i), help=why)


def _wrong(key: str, word: str) -> str | None:
    """What is wanted in place of a word; None where it is right, or where nothing is known of its key."""
    if key in NUMBERS and not word.isdecimal() and word.upper() not in ("UNLIMITED", "INFINITE"):
        return "write a whole number, without a unit"
    if key == "SrunPortRange":
        first, dash, last = word.partition("-")
        right = first.isdecimal() and last.isdecimal() and 0 < int(first) < int(last) < 65536
        return None if right else "write the first and the last of a range of ports, as 60001-63000"
    if key == "PrivateData" and word.lower() not in PRIVATE:
        return f"write some of {', '.join(PRIVATE)}"
    return None
