"""How a job must be submitted: every directive and every step of its batch script, worked out from the placement.

What of it Slurm understands, Slurm is asked (``controller``); most of a script it never reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from ..script import Step, differences, steps
from .files import expand

_DIRECTIVE = "#SBATCH"


def check_script(text: str, job: Any, placement: Any, design: Any) -> list[Diagnostic]:
    """Findings where a script leaves out, changes or adds a directive or a step."""
    planned = (*_header(text, job, placement, design), *_body(job, placement, design))
    return [finding("batch-script", f"{job.name}.sbatch: {difference}", ("training", job.name)) for difference in differences(text, planned, _DIRECTIVE)]


def _header(text: str, job: Any, placement: Any, design: Any) -> tuple[Step, ...]:
    """Two directives have more than one right form: the queue, of those that hold the pool, and the list of nodes."""
    given = dict(line.removeprefix(f"{_DIRECTIVE} --").partition("=")[::2] for line in text.split("\n") if line.startswith(f"{_DIRECTIVE} --"))
    pool = design.pool_of(placement.hosts[0])
    queues = [p for p in design.scheduler.partitions if pool.name in p.pools]
    queue = next((p for p in queues if p.name == given.get("partition")), queues[0])
    nodes = given.get("nodelist", "")
    if _hosts(nodes) != sorted(placement.hosts):
        nodes = ",".join(sorted(placement.hosts))
    size = "the job was placed on these nodes with all of their GPUs"
    planned = (
        (f"job-name={job.name}", "its log is called after it"),
        (f"partition={queue.name}", f"the queue must hold pool {pool.name}"),
        (f"nodes={len(placement.hosts)}", size),
        (f"nodelist={nodes}", size),
        (f"ntasks-per-node={placement.gpus_per_node}", size),
        (f"gpus-per-node={placement.gpus_per_node}", size),
        (f"cpus-per-task={_cpus(pool.system, placement)}", "each rank gets its share of the processors"),
        ("mem=0", "the job gets all memory of its nodes"),
        ("exclusive", "the processors of the nodes are split unevenly otherwise"),
        ("requeue", "a node that fails must not end the job for good"),
        *([(f"signal=B:USR1@{notice(job.checkpoints)}", "what was done since the last save is lost when its time is up")] if job.checkpoints else []),
        (f"time={queue.max_time}", "the job may run as long as its queue allows"),
        ("output=%x-%j.out", "its log is called after it"),
        ("open-mode=append", "a requeued job keeps the log of its first run"),
    )
    return tuple(Step(f"{_DIRECTIVE} --{words}", why) for words, why in planned)


def notice(saves: Any) -> int:
    """Seconds before the end of its time at which a job hears of it: a step, a save and a minute; sbatch takes 65,535 at most."""
    return min(65535, math.ceil(saves.step_s + saves.save_s) + 60)


def _body(job: Any, placement: Any, design: Any) -> Iterator[Step]:
    name, system, per_node = job.name, design.pool_of(placement.hosts[0]).system, placement.gpus_per_node
    cpus, all_cpus = _cpus(system, placement), _cpus(system, placement) * per_node
    yield Step("set -euo pipefail", "a step that fails must end the job")
    yield from steps(
        f"""
        nodes={len(placement.hosts)} ranks_per_node={per_node}
        cluster=${{IACGEN_CLUSTER_DIR:-$SLURM_SUBMIT_DIR}}
        ranks=$cluster/slurm/{name}.ranks
        health=$cluster/slurm/{name}.health
        launch=$cluster/training/{name}/launch.sh
        """,
        "the rank file and the scripts are this job's, in the size that was placed",
    )
    yield Step(f"""die() {{ printf '%s: %s\\n' {name} "$*" >&2; exit 1; }}""", "a job that cannot start must say why and end")
    hold = f"""hold() {{ printf '%s: held: %s\\n' {name} "$*" >&2; scontrol requeuehold "$SLURM_JOB_ID" || true; exit 1; }}"""
    yield Step(hold, "a job that would fail again says why, before Slurm ends the script, and waits until somebody has looked")
    if job.checkpoints:
        yield Step("told=0", "nobody has told the job of its end yet")
        yield Step("trap told=1 USR1", "an end that is told before the ranks start is not the fault of a node")
        yield from _again(job, design)
    yield from steps(
        r"""
        [[ -r $ranks ]] || die
        [[ -r $health ]] || die
        [[ -r $launch ]] || die
        grep -qvxE '[a-z][a-z0-9-]*' "$ranks" && die
        lines=$(wc -l <"$ranks")
        ((lines == nodes * ranks_per_node)) || die
        uneven=$(sort "$ranks" | uniq -c | awk -v n="$ranks_per_node" '$1 != n {print $2 " has " $1}')
        [[ -z $uneven ]] || die
        outside=$(comm -3 <(sort -u "$ranks") <(scontrol show hostnames "$SLURM_JOB_NODELIST" | sort -u) | tr -d '\t')
        [[ -z $outside ]] || die
        """,
        "Slurm cuts a longer rank file off and obeys one with uneven counts, without a word",
    )
    fit = "((told == 1)) || hold" if job.checkpoints else "hold"
    one_a_node = f'srun --ntasks="$nodes" --ntasks-per-node=1 --cpus-per-task={all_cpus}'
    yield Step(f'{one_a_node} --time=15 bash "$health" || {fit}', "a node that is not fit stops all ranks, again and again")
    if job.spec.input and job.spec.input.stage:
        yield Step(f'{one_a_node} bash "$cluster"/training/{name}/stage.sh || {fit}', "the job reads a copy of its data, which must be there")
    yield from steps(
        """
        MASTER_ADDR=$(head -n 1 "$ranks")
        export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}" IACGEN_CLUSTER_DIR="$cluster"
        """,
        f"rank 0 waits on the first host of the rank file, {placement.hosts[0]}",
    )
    if job.checkpoints:
        yield Step("""trap 'told=1; scancel --signal=TERM "$SLURM_JOB_ID" || true' USR1""", "the ranks must hear of the end in time to save")
        yield Step("((told == 0)) || again 0 early", "ranks that start when their time is up cannot save")
    ends = " &" if job.checkpoints else ""
    yield Step(
        f'SLURM_HOSTFILE=$ranks srun --distribution=arbitrary --ntasks="$lines" --cpus-per-task={cpus} --cpu-bind={binding(system, per_node)}'
        f' --kill-on-bad-exit=1 bash "$launch"{ends}',
        "ranks sit where the rank file says, each on the cores beside its GPU, where it sees the GPUs of its peers",
    )
    if job.checkpoints:
        yield from _ended()


def _ended() -> Iterator[Step]:
    """What becomes of a job that saves when its ranks have ended."""
    yield from steps(
        """
        step=$! code=138
        while ((code == 138)); do
        code=0
        wait "$step" || code=$?
        done
        ((code != 0 || told == 1)) || exit 0
        """,
        "bash hears of a signal only while it waits, and the wait ends with it",
    )
    yield Step('again "$code"', "a run that failed, or was told of its end, goes on from its last save")


def _again(job: Any, design: Any) -> Iterator[Step]:
    """How a job comes back: told of its end or not, never twice without a new save where that can be seen."""
    yield Step("again() {", "it goes on from its last save")
    mount = getattr(design.storage.get(job.spec.checkpoint_to or ""), "mount", None)
    if mount:
        folder = f"{mount}/checkpoints/{job.name}"
        newest = {"megatron": f"cat {folder}/latest_checkpointed_iteration.txt", "deepspeed": f"cat {folder}/latest"}.get(job.spec.framework, f"ls {folder}")
        yield from steps(
            f"""
            local last=$SLURM_JOB_NAME-$SLURM_JOB_ID.saved now
            now="$({newest} 2>/dev/null || true) ${{2:-}}"
            [[ ! -r $last || $(<"$last") != "$now" ]] || hold
            printf '%s\\n' "$now" >"$last"
            """,
            "two runs without a new save between them would go on for ever",
        )
    else:
        yield Step('((told == 1 && $1 == 0)) || exit "$1"', "nobody can see whether a failed run has saved")
    yield Step('scontrol requeue "$SLURM_JOB_ID" || true', "it goes on from its last save")
    yield Step('exit "$1"', "the job ends as its ranks did")
    yield Step("}", "only a job that comes back is put into the queue")


def _hosts(hostlist: str) -> list[str]:
    try:
        return sorted(expand(hostlist))
    except ValueError:
        return []


def _cpus(system: Any, placement: Any) -> int:
    return system.sockets * system.cores_per_socket * system.threads_per_core // placement.gpus_per_node


def binding(system: Any, ranks: int) -> str:
    """``cores`` where the block of cores that each local rank gets lies on the socket of its GPU; a wrong socket is worse than none."""
    cores = system.sockets * system.cores_per_socket
    blocks = [(rank * cores // ranks, -(-(rank + 1) * cores // ranks) - 1) for rank in range(ranks)]
    on = [(first // system.cores_per_socket, last // system.cores_per_socket) for first, last in blocks]
    return "cores" if on == [(socket, socket) for socket in system.gpu_numa] else "none"
