"""What each key of slurm.conf that a blueprint may set takes for a value, as the controllers of 22.05.8 and 24.11.5 read it.

Sources: slurm.conf(5) of both, and each limit measured on both controllers: beyond it they end, or start with a complaint and another
value, or with another value and no word. Of the lists whose words they never look at the manual alone tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .slurm_keys import NEW, OLD, Version

_U16, _U32, _U64 = 2**16 - 1, 2**32 - 1, 2**64 - 1
_INT = 2**31 - 1
_ENDLESS = ("UNLIMITED", "INFINITE")


@dataclass(frozen=True)
class Kind:
    """``wanted`` completes "write ..."; ``fits`` looks at one word; a key takes ``most`` words."""

    wanted: str
    fits: Callable[[str], bool]
    most: int = 1


def _whole(least: int, most: int, endless: bool = True) -> Kind:
    """A whole number; ``endless`` where UNLIMITED stands for the largest. One that begins with nought is octal to Slurm."""
    pattern = re.compile(r"0|[1-9][0-9]{0,19}")
    return Kind(
        "a whole number, without a unit" if most == _U64 else f"a whole number from {least:,} to {most:,}, without a unit",
        lambda word: bool(pattern.fullmatch(word)) and least <= int(word) <= most or endless and word.upper() in _ENDLESS,
    )


def _one_of(words: str, most: int = 1) -> Kind:
    """Words whose case counts for nothing; some of them where the key takes more than one."""
    known = {word.lower() for word in words.split()}
    return Kind(f"{'one' if most == 1 else 'some'} of {', '.join(words.split())}", lambda word: word.lower() in known, most)


def _shaped(wanted: str, pattern: str, most: int = 1) -> Kind:
    return Kind(wanted, lambda word: bool(re.fullmatch(pattern, word, re.IGNORECASE)), most)


def _port_range(word: str) -> bool:
    first, _, last = word.partition("-")
    return bool(re.fullmatch(r"[1-9][0-9]{0,4}-[1-9][0-9]{0,4}", word)) and int(first) < int(last) <= _LAST_PORT


def _exit_codes(word: str) -> bool:
    first, dash, last = word.partition("-")
    return bool(re.fullmatch(r"[0-9]{1,3}(-[0-9]{1,3})?", word)) and int(first) <= int(last if dash else first) <= 255


MANY = 1_000  # words
_LAST_PORT = 65_533
_ENDED = r"UNLIMITED|INFINITE|-1"
_TIME = r"[0-9]{1,7}(:[0-5]?[0-9]){0,2}|[0-9]{1,4}-[0-9]{1,2}(:[0-5]?[0-9]){0,2}"  # minutes; minutes:seconds; hours:...; days-hours...
_LEVELS = _one_of("quiet fatal error info verbose debug debug2 debug3 debug4 debug5 0 1 2 3 4 5 6 7 8 9")
_YES_NO = _one_of("yes no true false up down 1 0")
_CODES = Kind("exit codes from 0 to 255, or ranges as 1-9", _exit_codes, MANY)
_PATH = r"(/[^/]+)+/?|/"
_GOVERNORS = "Conservative OnDemand Performance PowerSave SchedUtil"
_DEBUG = """Accrue Agent Backfill BackfillMap BurstBuffer Cgroup CPU_Bind CpuFrequency Data Dependency Elasticsearch Energy Federation FrontEnd Gang Gres Hetjob
    JobAccountGather JobContainer License MPI Network NetworkRaw NO_CONF_HASH NodeFeatures Power Priority Profile Protocol Reservation Route Script SelectType
    Steps Switch TraceJobs Triggers"""
_PRIORITY = "ACCRUE_ALWAYS CALCULATE_RUNNING INCR_ONLY MAX_TRES NO_NORMAL_ALL NO_NORMAL_ASSOC NO_NORMAL_PART NO_NORMAL_QOS NO_NORMAL_TRES SMALL_RELATIVE_TO_TIME"
_SLURMD = "config_overrides|l3cache_as_socket|numa_node_as_socket|shutdown_on_reboot"
_FORMATS = "iso8601 iso8601_ms rfc5424 rfc5424_ms clock short thread_id"
_AUTOBIND = "autobind=(threads|cores|sockets|none)"
_PREEMPTION = "min_exempt_priority=[0-9]{1,9}|reclaim_licenses|reorder_count=[0-9]{1,9}|send_user_signal|strict_order|suspend_grace_time=[0-9]{1,4}|youngest_first"

NUMBERS: Mapping[str, Kind] = (
    dict.fromkeys("AcctGatherNodeFreq CompleteWait EioTimeout FairShareDampeningFactor GetEnvTimeout GroupUpdateForce GroupUpdateTime JobFileAppend KillOnBadExit MaxTasksPerNode OverTimeLimit PrologEpilogTimeout ResvOverRun TCPTimeout VSizeFactor WaitTime".split(), _whole(0, _U16))
    | dict.fromkeys("EpilogMsgTime MaxBatchRequeue PriorityWeightJobSize PriorityWeightPartition".split(), _whole(0, _U32))
    | dict.fromkeys("DefCpuPerGPU DefMemPerCPU DefMemPerGPU DefMemPerNode MaxMemPerCPU MaxMemPerNode".split(), _whole(0, _U64))
    | {
        "MaxArraySize": _whole(0, 4_000_001, endless=False),
        "MaxDBDMsgs": _whole(10_000, _U32),
        "MaxJobCount": _whole(1, _U32),
        "MaxJobId": _whole(2, 2**26 - 1, endless=False),
        "MaxStepCount": _whole(1, _U32),
        "MinJobAge": _whole(2, _U32),
        "SchedulerTimeSlice": _whole(5, _U16),
        "TreeWidth": _whole(1, _U16),
    }
)
"""Keys whose value is a number: slurmctld ends at anything else, and at most numbers outside."""

_OTHERS: Mapping[str, Kind] = {
    "BcastExclude": _shaped("none, or absolute paths", f"none|{_PATH}", MANY),
    "BcastParameters": _shaped("some of DestDir=/PATH, Compression=lz4, Compression=none, send_libs", f"destdir={_PATH}|compression=(lz4|none)|send_libs", 3),
    "CpuFreqDef": _one_of(_GOVERNORS),
    "CpuFreqGovernors": _one_of(f"{_GOVERNORS} UserSpace", 6),
    "DebugFlags": _one_of(f"{_DEBUG} ExtSensors TimeCray WorkQueue", MANY),
    "DependencyParameters": _shaped("some of disable_remote_singleton, kill_invalid_depend, max_depend_depth=10", "disable_remote_singleton|kill_invalid_depend|max_depend_depth=[1-9][0-9]{0,8}", 3),
    "GpuFreqDef": _shaped("low, medium, high, highm1 or MHz, and memory= with one of them", "(memory=)?(low|medium|high|highm1|[1-9][0-9]{1,4})", 2),
    "HashPlugin": _one_of("hash/k12 hash/sha3"),
    "Licenses": _shaped("names with a number each, as matlab:10", "[a-z0-9_][a-z0-9_./@+-]*(:(0|[1-9][0-9]{0,8}))?", MANY),
    "LogTimeFormat": _one_of(_FORMATS),
    "MailDomain": _shaped("a domain", r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"),
    "MpiParams": Kind("ports=12000-12999", lambda word: word.lower().startswith("ports=") and _port_range(word[6:])),
    "PreemptExemptTime": _shaped("a time, as 10 for minutes, 0:30:00 or 1-0", f"{_TIME}|{_ENDED}"),
    "PreemptMode": _one_of("OFF CANCEL GANG REQUEUE SUSPEND WITHIN", 2),
    "PreemptParameters": _shaped("some of min_exempt_priority=, reclaim_licenses, reorder_count=, send_user_signal, strict_order, suspend_grace_time=, youngest_first, with a number after =", _PREEMPTION, 7),
    "PreemptType": _one_of("preempt/none preempt/partition_prio preempt/qos"),
    "PriorityCalcPeriod": _shaped("a time of a minute at least, as 5 for minutes or 0:05:00", f"(?![0:-]*$)({_TIME})"),
    "PriorityDecayHalfLife": _shaped("a time, as 7-0 for days and hours", f"{_TIME}|{_ENDED}"),
    "PriorityFavorSmall": _YES_NO,
    "PriorityFlags": _one_of(f"{_PRIORITY} DEPTH_OBLIVIOUS NO_FAIR_TREE", MANY),
    "PriorityMaxAge": _shaped("a time, as 7-0 for days and hours", f"{_TIME}|{_ENDED}"),
    "PriorityUsageResetPeriod": _one_of("NONE NOW DAILY WEEKLY MONTHLY QUARTERLY YEARLY"),
    "PrivateData": _one_of("accounts events jobs nodes partitions reservations usage users all none", MANY),
    "ReconfigFlags": _one_of("KeepPartInfo KeepPartState", 3),
    "RequeueExit": _CODES,
    "RequeueExitHold": _CODES,
    "SlurmctldDebug": _LEVELS,
    "SlurmctldSyslogDebug": _LEVELS,
    "SlurmdDebug": _LEVELS,
    "SlurmdParameters": _shaped("some of config_overrides, l3cache_as_socket, numa_node_as_socket, shutdown_on_reboot", _SLURMD, MANY),
    "SlurmdSyslogDebug": _LEVELS,
    "SrunPortRange": Kind(f"the first and the last of a range of ports up to {_LAST_PORT}, as 60001-63000", _port_range),
    "SuspendExcNodes": _shaped("names of hosts, each with a count where it is for some, as gpu0001:1", "[a-z0-9][a-z0-9._-]*(:[1-9][0-9]{0,4})?", MANY),
    "SuspendExcParts": _shaped("names of partitions", "[a-z][a-z0-9_-]*", MANY),
    "TaskPluginParam": _shaped("some of Cores, None, Sockets, Threads, SlurmdOffSpec, Verbose, Autobind=threads", f"cores|none|sockets|threads|slurmdoffspec|verbose|{_AUTOBIND}", 4),
    "TmpFS": _shaped("an absolute path", _PATH),
    "UsePAM": _YES_NO,
    "X11Parameters": _one_of("home_xauthority"),
}

_OF_NEW: Mapping[str, Kind] = {
    "DebugFlags": _one_of(f"{_DEBUG} AuditRPCs ConMgr DBD_Agent GLOB_SILENCE JobComp TLS WorkQueue", MANY),
    "LogTimeFormat": _one_of(f"{_FORMATS} rfc3339 format_stderr", 2),
    "MpiParams": Kind("ports=12000-12999, disable_slurm_hydra_bootstrap", lambda word: word.lower() == "disable_slurm_hydra_bootstrap" or _OTHERS["MpiParams"].fits(word), 2),
    "PriorityFlags": _one_of(_PRIORITY, MANY),  # without slurmdbd, of which iacgen has none, the controller dies of the other two
    "ReconfigFlags": _one_of("KeepPartInfo KeepPartState KeepPowerSaveSettings", 3),
    "SlurmdParameters": _shaped(
        "some of allow_ecores, config_overrides, contain_spank, l3cache_as_socket, numa_node_as_socket, shutdown_on_reboot, conmgr_use_poll, and conmgr_threads= and its like with a number",
        rf"{_SLURMD}|allow_ecores|contain_spank|conmgr_use_poll|conmgr_(max_connections|threads|connect_timeout|read_timeout|wait_write_delay|write_timeout)=[1-9][0-9]{{0,8}}", MANY,
    ),
    "TaskPluginParam": _shaped("some of Cores, None, Sockets, Threads, OOMKillStep, SlurmdOffSpec, Verbose, Autobind=threads", f"cores|none|sockets|threads|oomkillstep|slurmdoffspec|verbose|{_AUTOBIND}", 5),
}  # fmt: skip

KINDS: Mapping[Version, Mapping[str, Kind]] = {OLD: {**NUMBERS, **_OTHERS}, NEW: {**NUMBERS, **_OTHERS, **_OF_NEW}}
"""Version → key → what it takes."""

_WORDS: Mapping[str, Kind] = (
    dict.fromkeys("batch_sched_delay bb_array_stage_cnt build_queue_timeout correspond_after_task_cnt default_queue_depth max_array_tasks max_sched_time partition_job_depth preempt_reorder_count sched_max_job_start sched_min_interval step_retry_count step_retry_time".split(), _whole(0, _INT, endless=False))
    | dict.fromkeys("bf_max_job_assoc bf_max_job_part bf_max_job_user bf_max_job_user_part".split(), _whole(0, 1_000_000, endless=False))
    | dict.fromkeys(("bf_yield_interval", "bf_yield_sleep"), _whole(1, 10_000_000, endless=False))
    | {
        "TopoMaxSizeUnroll": _shaped("a whole number, or -1 for none", "-1|0|[1-9][0-9]{0,8}"),
        "bf_hetjob_prio": _one_of("min avg max"),
        "bf_interval": _shaped("a whole number from 1 to 10,800, or -1 for none", "-1|[1-9][0-9]{0,3}|10[0-7][0-9]{2}|10800"),
        "bf_job_part_count_reserve": _whole(0, 100_000, endless=False),
        "bf_max_job_array_resv": _whole(0, 1_000, endless=False),
        "bf_max_job_start": _whole(0, 10_000, endless=False),
        "bf_max_job_test": _whole(2, 1_000_000, endless=False),
        "bf_max_time": _whole(1, 3_600, endless=False),
        "bf_min_age_reserve": _whole(0, 2_592_000, endless=False),
        "bf_min_prio_reserve": _whole(1, _U32, endless=False),
        "bf_node_space_size": _whole(2, 2_000_000, endless=False),
        "bf_topopt_iterations": _whole(2, 30, endless=False),
        "bf_window_linear": _whole(1, _INT, endless=False),
        "delay_boot": _shaped("a time, as 10 for minutes or 1:00:00", _TIME),
        "max_rpc_cnt": _whole(0, 1_000, endless=False),
        "max_script_size": _whole(1, 512 * 2**20, endless=False),
        "max_submit_line_size": _whole(1, 2 * 2**20, endless=False),
        "sched_interval": _shaped("a whole number of seconds, or -1 for none", "-1|[1-9][0-9]{0,8}"),
    }
)


def wrong(key: str, i: int, word: str, version: Version) -> str | None:
    """What is wanted in place of the word at that place of its key; None where it is right, or where nothing is known of its key."""
    name, given, value = word.partition("=")
    if given and name in _WORDS and key in ("SchedulerParameters", "TopologyParam"):
        return None if _WORDS[name].fits(value) else f"write {_WORDS[name].wanted}"
    kind = KINDS[version].get(key)
    if kind is None:
        return None
    if not kind.fits(word):
        return f"write {kind.wanted}"
    return None if i < kind.most else f"{key} takes {'one value' if kind.most == 1 else f'{kind.most} words at most'}"
