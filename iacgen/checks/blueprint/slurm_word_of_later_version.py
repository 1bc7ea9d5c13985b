"""A word of a later Slurm than the one that will read it.

Why: the older slurmctld takes any word in these lists without a message and does not act on it.

Bad::

    scheduler:
      version: "22.05"
      parameters: {LaunchParameters: [ulimit_pam_adopt]}

Good: ``version: "24.11"``, or leave the word out.

Source: Slurm's change log and slurm.conf(5) of both versions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule
from ..slurm_keys import WRITTEN, given, version_of, words


@rule("IAC505", "slurm-word-of-later-version")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    for key, i, word in given(scheduler.parameters) if scheduler else ():
        since, _ = words(key).get(word, ((0, 0), False))
        if since > version_of(scheduler.version) and word not in WRITTEN[key]:  # such a word is refused in any version
            yield Found(f"{word} came with {since[0]}.{since[1]:02d}, and {scheduler.version} is declared", ("scheduler", "parameters", key, i), (Related(("scheduler", "version"), "declared here"),))
