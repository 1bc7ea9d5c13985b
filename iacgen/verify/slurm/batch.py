"""How a job must be submitted: every directive and every step of its batch script, worked out from the placement.

What of it Slurm understands, Slurm is asked (``controller``); most of a script it never reads.
"""

from __future__ import annotations

from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from ..script import Step, differences, steps
from .files import expand

_DIRECTIVE = "#SBATCH"


def check_script(text: str, job: str, placement: Any, design: Any) -> list[Diagnostic]:
    """Findings where a script leaves out, changes or adds a directive or a step."""
    planned = (*_header(text, job, placement, design), *_body(job, placement, design))
    return [finding("batch-script", f"{job}.sbatch: {difference}", ("training", job)) for difference in differences(text, planned, _DIRECTIVE)]


def _header(text: str, job: str, placement: Any, design: Any) -> tuple[Step, ...]:
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
        (f"job-name={job}", "its log is called after it"),
        (f"partition={queue.name}", f"the queue must hold pool {pool.name}"),
        (f"nodes={len(placement.hosts)}", size),
        (f"nodelist={nodes}", size),
        (f"ntasks-per-node={placement.gpus_per_node}", size),
        (f"gpus-per-node={placement.gpus_per_node}", size),
        (f"cpus-per-task={_cpus(pool.system, placement)}", "each rank gets its share of the processors"),
        ("mem=0", "the job gets all memory of its nodes"),
        ("exclusive", "the processors of the nodes are split unevenly otherwise"),
        ("requeue", "a node that fails must not end the job for good"),
        (f"time={queue.max_time}", "the job may run as long as its queue allows"),
        ("output=%x-%j.out", "its log is called after it"),
        ("open-mode=append", "a requeued job keeps the log of its first run"),
    )
    return tuple(Step(f"{_DIRECTIVE} --{words}", why) for words, why in planned)


def _body(job: str, placement: Any, design: Any) -> tuple[Step, ...]:
    system, per_node = design.pool_of(placement.hosts[0]).system, placement.gpus_per_node
    cpus = _cpus(system, placement)
    return (
        Step("set -euo pipefail", "a step that fails must end the job"),
        *steps(
            f"""
            nodes={len(placement.hosts)} ranks_per_node={per_node}
            cluster=${{IACGEN_CLUSTER_DIR:-$SLURM_SUBMIT_DIR}}
            ranks=$cluster/slurm/{job}.ranks
            launch=$cluster/training/{job}/launch.sh
            """,
            "the rank file and the launch script are this job's, in the size that was placed",
        ),
        Step(f"""die() {{ printf '%s: %s\\n' {job} "$*" >&2; exit 1; }}""", "a job that cannot start must say why and end"),
        *steps(
            r"""
            [[ -r $ranks ]] || die
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
        ),
        *steps(
            """
            MASTER_ADDR=$(head -n 1 "$ranks")
            export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}" IACGEN_CLUSTER_DIR="$cluster"
            """,
            f"rank 0 waits on the first host of the rank file, {placement.hosts[0]}",
        ),
        Step(
            f'SLURM_HOSTFILE=$ranks srun --distribution=arbitrary --ntasks="$lines" --cpus-per-task={cpus} --cpu-bind={binding(system, per_node)}'
            ' --kill-on-bad-exit=1 bash "$launch"',
            "ranks sit where the rank file says, each on the cores beside its GPU, where it sees the GPUs of its peers",
        ),
    )


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
