"""A word of SchedulerParameters, LaunchParameters or TopologyParam that Slurm does not know.

Why: slurmctld looks for the words that it knows and says nothing about the rest. A misspelt word is a setting that nobody has.

Bad::

    scheduler:
      parameters: {SchedulerParameters: [bf_max_jobs_test=2000]}

Good: ``bf_max_job_test=2000``.

Source: slurm.conf(5); measured on slurmctld 22.05.8 and 24.11.5, which start in silence.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..nearest import close
from ..rule import Found, rule
from ..slurm_keys import given, words


@rule("IAC504", "unknown-slurm-word")
def check(blueprint: Blueprint) -> Iterator[Found]:
    scheduler = blueprint.scheduler
    for key, i, word in given(scheduler.parameters) if scheduler else ():
        known = words(key)
        path = ("scheduler", "parameters", key, i)
        if word not in known:
            yield Found(f"{key} has no word {word}", path, help=close(word, known))
        elif known[word][1] != ("=" in scheduler.parameters[key][i]):
            yield Found(f"{word} {'takes a value' if known[word][1] else 'takes no value'}", path)
