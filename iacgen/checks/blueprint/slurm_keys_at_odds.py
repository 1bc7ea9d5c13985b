"""Values of Slurm that are right alone and wrong together.

Why: slurmctld ends where preemption has a kind and no mode, or a mode and no kind, and where usage neither decays nor is ever reset. Where
one of two limits is above the other, or a word excludes another, it drops one of them, with a line in its log.

Bad::

    scheduler: {kind: slurm, version: "24.11", controllers: ctl, parameters: {PreemptType: [preempt/partition_prio]}}

Good: ``PreemptMode: [REQUEUE]`` beside it.

Source: slurm.conf(5), PreemptMode, PriorityDecayHalfLife, TaskPluginParam and SchedulerParameters; slurmctld 22.05.8 and 24.11.5 end at
"PreemptType and PreemptMode values incompatible" and say "bf_max_job_part >= bf_max_job_test" (measured).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, Path, rule

_ROOT: Path = ("scheduler", "parameters")
_HOW = {"CANCEL", "REQUEUE", "SUSPEND"}
_LEAST_TEST = 500  # bf_max_job_test by default
_EXCLUSIVE = {
    "BcastExclude": (r"none", r"/.*"),
    "LogTimeFormat": (r"(?!format_stderr).*", r"(?!format_stderr).*"),
    "SlurmdParameters": (r"l3cache_as_socket", r"numa_node_as_socket"),
    "TaskPluginParam": (r"cores|none|sockets|threads", r"cores|none|sockets|threads"),
}
"""Key → two kinds of words of which it takes either."""

Parameters = Mapping[str, tuple[str, ...]]


@rule("IAC595", "slurm-keys-at-odds")
def check(blueprint: Blueprint) -> Iterator[Found]:
    given: Parameters = blueprint.scheduler.parameters if blueprint.scheduler else {}
    yield from _preemption(given)
    yield from _usage(given)
    yield from _weights(given)
    yield from _limits(given)
    for key, (one, other) in _EXCLUSIVE.items():
        yield from _excluding(key, given.get(key, ()), one, other)
    for key, words in given.items():
        yield from _twice(key, words)


def _preemption(given: Parameters) -> Iterator[Found]:
    modes = {word.upper(): i for i, word in reversed(list(enumerate(given.get("PreemptMode", ()))))}
    how = sorted(modes.keys() & _HOW, key=lambda mode: modes[mode])
    kind = (given.get("PreemptType") or ("",))[0]
    beside = (Related((*_ROOT, "PreemptType"), "what preempts"),) if kind else ()
    if len(how) > 1 or how and "OFF" in modes:
        yield Found(f"{' and '.join(modes)} exclude each other", (*_ROOT, "PreemptMode"), help="write one of CANCEL, REQUEUE, SUSPEND, and GANG or WITHIN beside it", on_key=True)
    elif "SUSPEND" in modes and "GANG" not in modes:
        yield Found("SUSPEND needs GANG beside it, which wakes what is suspended", (*_ROOT, "PreemptMode", modes["SUSPEND"]), help="PreemptMode: [SUSPEND, GANG]")
    elif kind in ("preempt/partition_prio", "preempt/qos") and not how:
        path = (*_ROOT, "PreemptMode") if modes else (*_ROOT, "PreemptType")
        yield Found(f"{kind} says who is preempted, and no PreemptMode how", path, beside if modes else (), help="PreemptMode: [REQUEUE]", on_key=True)
    elif kind in ("", "preempt/none") and (how or "WITHIN" in modes):
        yield Found(f"{' '.join(modes)} says how to preempt, and no PreemptType who", (*_ROOT, "PreemptMode"), beside, help="PreemptType: [preempt/partition_prio]", on_key=True)


def _usage(given: Parameters) -> Iterator[Found]:
    decay, reset = (given.get(key, ("",))[0] for key in ("PriorityDecayHalfLife", "PriorityUsageResetPeriod"))
    if decay and re.fullmatch(r"[0:-]+", decay) and reset.upper() in ("", "NONE"):
        beside = (Related((*_ROOT, "PriorityUsageResetPeriod", 0), "and is never reset"),) if reset else ()
        yield Found("usage never decays", (*_ROOT, "PriorityDecayHalfLife", 0), beside, help="set PriorityUsageResetPeriod, or a time above nought")


def _weights(given: Parameters) -> Iterator[Found]:
    keys = [key for key in ("PriorityWeightJobSize", "PriorityWeightPartition") if given.get(key, ("",))[0].isdecimal()]
    if len(keys) == 2 and sum(int(given[key][0]) for key in keys) >= 2**32:
        yield Found("the weights of priority add up to more than a priority can be", (*_ROOT, keys[1], 0), (Related((*_ROOT, keys[0], 0), "the other one"),), help="make both smaller")


def _limits(given: Parameters) -> Iterator[Found]:
    """Limits of the backfill scheduler for a part of the jobs, against that for all of them."""
    words = given.get("SchedulerParameters", ())
    numbers = {name: (i, int(value)) for i, word in enumerate(words) for name, _, value in [word.partition("=")] if value.isdecimal()}
    place, most = numbers.get("bf_max_job_test", (None, _LEAST_TEST))
    for name in ("bf_max_job_assoc", "bf_max_job_part", "bf_max_job_user", "bf_max_job_user_part"):
        i, count = numbers.get(name, (0, 0))
        if count > most or count == most and name == "bf_max_job_part":
            beside = () if place is None else (Related((*_ROOT, "SchedulerParameters", place), "of all jobs"),)
            whole = f"bf_max_job_test, which is {most:,}{'' if place is not None else ' by default'}"
            yield Found(f"{name} is not below {whole}", (*_ROOT, "SchedulerParameters", i), beside, help="set bf_max_job_test to a multiple of it")


def _excluding(key: str, words: tuple[str, ...], one: str, other: str) -> Iterator[Found]:
    """The first word that one before it excludes."""
    seen: dict[str, int] = {}  # kind → the first word of it
    for i, word in enumerate(words):
        kinds = [kind for kind in dict.fromkeys((one, other)) if re.fullmatch(kind, word, re.IGNORECASE)]
        for kind in kinds:
            against = other if kind == one else one
            if against in seen:
                yield Found(f"{word} and {words[seen[against]]} exclude each other", (*_ROOT, key, i), (Related((*_ROOT, key, seen[against]), "the other one"),))
                return
        seen |= {kind: i for kind in kinds if kind not in seen}


def _twice(key: str, words: tuple[str, ...]) -> Iterator[Found]:
    """A word that takes a value, with two of them: the first counts."""
    seen: dict[str, int] = {}
    for i, word in enumerate(words):
        name, given, _ = word.lower().partition("=")
        if given and name in seen and key != "GpuFreqDef":
            yield Found(f"{name} has a value already, which counts", (*_ROOT, key, i), (Related((*_ROOT, key, seen[name]), "the first one"),))
        elif given:
            seen[name] = i
