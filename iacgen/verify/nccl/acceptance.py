"""The acceptance job: its steps, its nodes, and thresholds worked out anew from links and shares."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from ..process import run
from ..script import Step, differences, steps

_DIRECTIVE = "#SBATCH"
# Least shares of a link's rate, as published: an NDR port gives 46 of 50 GB/s (nccl-tests#290); eight A100 gave 230.8 of 300 of
# NVLink (nccl#527); of EFA nothing was found; an exchange across leaf switches loses up to 17 % (arXiv:2509.15940). Over PCIe NCCL
# counts on 22 GB/s from socket to socket, and on 6/5 of the bytes (graph/topo.h).
_RDMA, _EFA, _NVLINK, _PCIE, _ACROSS = 0.92, 0.78, 230 / 300, 22 / 1.2, 0.83


def of_jobs(tree: Path, design: Any) -> Iterator[Diagnostic]:
    """Each pool that can be measured has its job, of the planned steps; no other pool has one."""
    names = {f"acceptance-{pool.name}.sbatch": pool for pool in design.pools.values() if measurable(design, pool)}
    for path in sorted(tree.glob("nccl/acceptance-*.sbatch")):
        if path.name not in names:
            yield finding("nccl-file-missing", f"nccl/{path.name} belongs to no pool of the blueprint that can be measured")
    for name, pool in names.items():
        script = tree / "nccl" / name
        if not script.is_file():
            yield finding("nccl-file-missing", f"nccl/{name} is missing")
            continue
        syntax = run(["bash", "-n", script])
        if not syntax.ok:
            yield finding("launch-not-of-plan", f"nccl/{name}: {syntax.err.strip()}")
        text = script.read_text(encoding="utf-8", errors="replace")
        for difference in differences(text, _planned(text, design, pool), _DIRECTIVE):
            yield finding("launch-not-of-plan", f"nccl/{name}: {difference}")


def measurable(design: Any, pool: Any) -> bool:
    """Several GPU hosts on a compute fabric that some queue holds."""
    queued = design.scheduler is not None and any(pool.name in p.pools for p in design.scheduler.partitions)
    return bool(pool.gpu and design.fabric_of(pool.name, "compute") and queued and pool.count - len(pool.down) > 1)


def least(design: Any, pool: Any) -> tuple[int, int]:
    """GB/s of bus bandwidth for an all-reduce and an all-to-all over all hosts in service."""
    fabric, hosts, gpus = design.fabric_of(pool.name, "compute"), pool.count - len(pool.down), pool.system.gpus
    wire = fabric.link_gbps[pool.name] / 8 * (_EFA if fabric.technology == "efa" else _RDMA)
    count, nvlink = fabric.nics[pool.name].count, pool.gpu.nvlink_gbytes_per_s / 2 * _NVLINK if pool.system.nvlink_domain_gpus else _PCIE
    domain = max(1, pool.system.nvlink_domain_gpus // gpus)
    if hosts <= domain:
        return math.floor(nvlink), math.floor(nvlink)
    # An exchange gives each of the other ranks an equal part; those outside the NVLink domain get theirs over the GPU's adapters.
    away = (hosts - domain) * gpus / (hosts * gpus - 1)
    exchange = wire * count / gpus / away * (_ACROSS if len(fabric.groups) > 1 else 1)
    ring = wire * count * domain
    return math.floor(min(ring, nvlink)), math.floor(min(exchange, nvlink))


def _planned(text: str, design: Any, pool: Any) -> tuple[Step, ...]:
    gpus, nodes = pool.system.gpus, pool.count - len(pool.down)
    given = dict(line.removeprefix(f"{_DIRECTIVE} --").partition("=")[::2] for line in text.split("\n") if line.startswith(f"{_DIRECTIVE} --"))
    queues = [p.name for p in design.scheduler.partitions if pool.name in p.pools]
    header = (
        f"job-name=nccl-acceptance-{pool.name}", f"partition={given.get('partition') if given.get('partition') in queues else queues[0]}", f"nodes={nodes}",
        f"ntasks-per-node={gpus}", f"gpus-per-node={gpus}", f"cpus-per-task={pool.system.cpus // gpus}", "mem=0", "exclusive", "time=30", "output=%x-%j.out",
    )  # fmt: skip
    body = f"""
    set -euo pipefail
    die() {{ printf 'nccl-acceptance: %s\\n' "$*" >&2; exit 1; }}
    cluster=${{IACGEN_CLUSTER_DIR:-$SLURM_SUBMIT_DIR}}
    ((SLURM_NNODES == {nodes})) || die "other nodes"
    settings=$cluster/nccl/nccl.sh
    [[ -r $settings ]] || settings=$cluster/nccl/{pool.name}/nccl.sh
    [[ -r $settings ]] || die "none"
    . "$settings"
    slow=0
    measure() {{
    local said got
    said=$(srun --mpi="${{MPI:-pmix}}" --kill-on-bad-exit=1 "$1" -b 4G -e 4G -g 1 -w 5 -n 20 -c 1) || die "fault"
    printf '%s\\n' "$said"
    grep -q '^# Out of bounds values : 0 OK' <<<"$said" || die "wrong"
    got=$(awk '/^# Avg bus bandwidth/ {{print $NF}}' <<<"$said")
    [[ $got =~ ^[0-9]+([.][0-9]+)?$ ]] || die "none"
    if awk -v got="$got" -v least="$2" 'BEGIN {{exit !(got + 0 < least + 0)}}'; then
    printf '%s: %s GB/s of bus bandwidth, at least %s were expected\\n' "$1" "$got" "$2" >&2
    slow=1
    fi
    }}
    """
    reduce, exchange = least(design, pool)
    return (
        *(Step(f"{_DIRECTIVE} --{words}", "all GPUs of the pool are measured together") for words in header),
        *steps(body, "a fabric that is too slow, or computes wrong values, must fail the job"),
        Step(f"measure all_reduce_perf {reduce}", f"this fabric should reach {reduce} GB/s"),
        Step(f"measure alltoall_perf {exchange}", f"this fabric should reach {exchange} GB/s"),
        Step('exit "$slow"', "a fabric that is too slow must fail the job"),
    )
