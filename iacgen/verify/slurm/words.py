"""Words that slurmctld takes without reading: the ``*Params`` lists, as the manual of each version names them.

Source: slurm.conf(5) of 22.05.8 and of 24.11.5. A word is known when the manual of a version not newer than the target has it.
"""

from __future__ import annotations

Version = tuple[int, int]

_TOPOLOGY = {
    (22, 5): "Dragonfly TopoOptional",
    (23, 2): "SwitchAsNodeRank",
    (23, 11): "RoutePart RouteTree",
    (24, 11): "TopoMaxSizeUnroll",
}
_LAUNCH = {
    (22, 5): """batch_step_set_cpu_freq cray_net_exclusive disable_send_gids enable_nss_slurm lustre_no_flush mem_sort
        mpir_use_nodeaddr slurmstepd_memlock slurmstepd_memlock_all test_exec use_interactive_step""",
    (24, 11): "ulimit_pam_adopt",
}
_SCHEDULER = {
    (22, 5): """Ignore_NUMA allow_zero_lic assoc_limit_stop batch_sched_delay bb_array_stage_cnt bf_busy_nodes bf_continue
        bf_hetjob_immediate bf_hetjob_prio bf_interval bf_job_part_count_reserve bf_licenses bf_max_job_array_resv
        bf_max_job_assoc bf_max_job_part bf_max_job_start bf_max_job_test bf_max_job_user bf_max_job_user_part bf_max_time
        bf_min_age_reserve bf_min_prio_reserve bf_node_space_size bf_one_resv_per_job bf_resolution bf_running_job_reserve
        bf_window bf_window_linear bf_yield_interval bf_yield_sleep build_queue_timeout correspond_after_task_cnt
        default_queue_depth defer delay_boot disable_hetjob_steps disable_job_shrink enable_hetjob_steps enable_user_top
        ignore_prefer_validation max_array_tasks max_rpc_cnt max_sched_time max_script_size max_switch_wait
        no_backup_scheduling no_env_cache nohold_on_prolog_fail pack_serial_at_end partition_job_depth
        reduce_completing_frag requeue_setup_env_fail salloc_wait_nodes sbatch_wait_nodes sched_interval
        sched_max_job_start sched_min_interval spec_cores_first step_retry_count step_retry_time whole_hetjob
        preempt_reorder_count preempt_strict_order preempt_youngest_first""",
    (24, 11): """bf_allow_magnetic_slot bf_topopt_enable bf_topopt_iterations defer_batch enable_job_state_cache
        extra_constraints ignore_constraint_validation max_submit_line_size time_min_as_soft_limit""",
}
_LISTS = {"topologyparam": _TOPOLOGY, "launchparameters": _LAUNCH, "schedulerparameters": _SCHEDULER}

# Keys without effect on any of the versions tried, some of them with an error line at every start.
DEAD_KEYS = frozenset({"routeplugin", "launchtype", "cryptotype", "fastschedule", "powerparameters", "extsensorstype"})


def unknown_words(key: str, value: str, version: Version) -> list[str]:
    """Words of ``value`` that the manual of ``version`` does not name under ``key``; none for a key that the daemon checks."""
    table = _LISTS.get(key.lower())
    if table is None:
        return []
    known = {word.lower() for since, words in table.items() if since <= version for word in words.split()}
    return [word for word in value.split(",") if word.partition("=")[0].lower() not in known]
