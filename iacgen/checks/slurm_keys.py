"""Keys and words of slurm.conf: which exist in which version, which are iacgen's, which do nothing any more.

Sources: slurm.conf(5) of 22.05.8 and of 24.11.5, the strings of both libraries, and what both controllers said of each dead key.
slurmctld ends at a key that it does not know, and says nothing about a wrong word of three of the lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Version = tuple[int, int]
OLD, NEW = (22, 5), (24, 11)

SINGLE: Mapping[str, Version] = {
    key: OLD
    for key in """AcctGatherNodeFreq BcastExclude BcastParameters CompleteWait CpuFreqDef CpuFreqGovernors DebugFlags DefCpuPerGPU DefMemPerCPU DefMemPerGPU
    DefMemPerNode DependencyParameters EioTimeout EpilogMsgTime FairShareDampeningFactor GetEnvTimeout GpuFreqDef GroupUpdateForce GroupUpdateTime
    JobFileAppend KillOnBadExit Licenses LogTimeFormat MailDomain MaxArraySize MaxDBDMsgs MaxJobCount MaxJobId MaxMemPerCPU
    MaxMemPerNode MaxStepCount MaxTasksPerNode MinJobAge MpiParams OverTimeLimit PreemptExemptTime PreemptMode PreemptType PriorityCalcPeriod
    PriorityDecayHalfLife PriorityFavorSmall PriorityFlags PriorityMaxAge PriorityUsageResetPeriod PriorityWeightJobSize PriorityWeightPartition
    PrivateData PrologEpilogTimeout ReconfigFlags RequeueExit RequeueExitHold ResvOverRun SchedulerTimeSlice SlurmctldDebug SlurmctldSyslogDebug
    SlurmdDebug SlurmdParameters SlurmdSyslogDebug SrunPortRange SuspendExcNodes SuspendExcParts TaskPluginParam TCPTimeout TmpFS TreeWidth UsePAM
    VSizeFactor WaitTime X11Parameters""".split()
} | {key: NEW for key in ("HashPlugin", "MaxBatchRequeue", "PreemptParameters")}  # fmt: skip
"""Key that a blueprint may set → the first version of the two that has it. None needs a file or a daemon that iacgen does not bring."""

PLANNED = frozenset(
    """AuthType BatchStartTimeout ClusterName CredType DownNodes EnforcePartLimits GresTypes InactiveLimit JobRequeue KillWait MessageTimeout MpiDefault NodeName NodeSet
    PartitionName PriorityType ProctrackType PrologFlags PropagateResourceLimits PropagateResourceLimitsExcept ReturnToService SchedulerType SelectType
    SelectTypeParameters SlurmUser SlurmctldHost SlurmctldLogFile SlurmctldParameters SlurmctldPidFile SlurmctldPort SlurmctldTimeout SlurmdLogFile
    SlurmdPidFile SlurmdPort SlurmdSpoolDir SlurmdTimeout SlurmdUser StateSaveLocation SwitchType TaskPlugin TopologyPlugin UnkillableStepTimeout""".split()
)
"""Keys whose values follow from the rest of the blueprint, or whose files belong together."""

DEAD: Mapping[str, str] = {
    "RoutePlugin": "TopologyParam: [RouteTree], which iacgen writes where the version has it",
    "LaunchType": "nothing: srun starts the steps",
    "CryptoType": "CredType, which iacgen writes",
    "FastSchedule": "SlurmdParameters: [config_overrides]",
    "PowerParameters": "nothing: the power plug-in is gone",
    "ExtSensorsType": "nothing: the plug-in is gone",
    "ControlMachine": "scheduler.controllers",
    "ControlAddr": "scheduler.controllers",
    "BackupController": "scheduler.controllers, whose second host is the backup",
    "BackupAddr": "scheduler.controllers, whose second host is the backup",
}
"""Key that does nothing in 24.11, or that another has replaced → what does its work."""

LISTS: Mapping[str, Mapping[Version, str]] = {
    "TopologyParam": {OLD: "Dragonfly TopoOptional", (23, 2): "SwitchAsNodeRank", (23, 11): "RoutePart RouteTree", NEW: "TopoMaxSizeUnroll="},
    "LaunchParameters": {
        OLD: "batch_step_set_cpu_freq cray_net_exclusive disable_send_gids enable_nss_slurm lustre_no_flush mem_sort mpir_use_nodeaddr slurmstepd_memlock slurmstepd_memlock_all test_exec use_interactive_step",
        NEW: "ulimit_pam_adopt",
    },
    "SchedulerParameters": {
        OLD: """Ignore_NUMA allow_zero_lic assoc_limit_stop batch_sched_delay= bb_array_stage_cnt= bf_busy_nodes bf_continue bf_hetjob_immediate
        bf_hetjob_prio= bf_interval= bf_job_part_count_reserve= bf_licenses bf_max_job_array_resv= bf_max_job_assoc= bf_max_job_part= bf_max_job_start=
        bf_max_job_test= bf_max_job_user= bf_max_job_user_part= bf_max_time= bf_min_age_reserve= bf_min_prio_reserve= bf_node_space_size=
        bf_one_resv_per_job bf_resolution= bf_running_job_reserve bf_window= bf_window_linear= bf_yield_interval= bf_yield_sleep= build_queue_timeout=
        correspond_after_task_cnt= default_queue_depth= defer delay_boot= disable_hetjob_steps disable_job_shrink enable_hetjob_steps enable_user_top
        ignore_prefer_validation max_array_tasks= max_rpc_cnt= max_sched_time= max_script_size= max_switch_wait= no_backup_scheduling no_env_cache
        nohold_on_prolog_fail pack_serial_at_end partition_job_depth= preempt_reorder_count= preempt_strict_order preempt_youngest_first
        reduce_completing_frag requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes sched_interval= sched_max_job_start= sched_min_interval=
        spec_cores_first step_retry_count= step_retry_time= whole_hetjob""",
        NEW: """bf_allow_magnetic_slot bf_topopt_enable bf_topopt_iterations= defer_batch enable_job_state_cache extra_constraints
        ignore_constraint_validation max_submit_line_size= time_min_as_soft_limit""",
    },
}
"""List → first version → its words; a sign of equality at the end of those that take a value."""

WRITTEN: Mapping[str, frozenset[str]] = {
    "TopologyParam": frozenset({"SwitchAsNodeRank", "RouteTree"}),
    "LaunchParameters": frozenset({"use_interactive_step"}),
    "SchedulerParameters": frozenset({"bf_continue", "bf_window", "bf_resolution", "max_switch_wait", "nohold_on_prolog_fail"}),
}
"""Words that iacgen writes itself."""


def words(key: str) -> dict[str, tuple[Version, bool]]:
    """Word of a list → the first version that has it, and whether it takes a value."""
    return {word.removesuffix("="): (version, word.endswith("=")) for version, line in LISTS[key].items() for word in line.split()}


def version_of(text: str) -> Version:
    """``"24.11"`` → (24, 11)."""
    major, minor = text.split(".")
    return int(major), int(minor)


def given(parameters: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, int, str]]:
    """Every word of a list: its key, its place in the list, the word without its value."""
    for key in sorted(parameters.keys() & LISTS.keys()):
        for i, word in enumerate(parameters[key]):
            yield key, i, word.partition("=")[0]
