"""What a node must be asked before a job's ranks start: every step of the health check, worked out from the design."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from ..script import Step, differences, steps


def check_health(text: str, job: Any, placement: Any, design: Any) -> list[Diagnostic]:
    """Findings where the script leaves out, changes or adds a question."""
    planned = tuple(_steps(job, placement, design))
    return [finding("batch-script", f"{job.name}.health: {difference}", ("training", job.name)) for difference in differences(text, planned)]


def _steps(job: Any, placement: Any, design: Any) -> Iterator[Step]:
    pool = design.pool_of(placement.hosts[0])
    yield Step("set -uo pipefail", "one fault must not keep the others from being told")
    yield from steps(
        r"""
        faults=0
        bad() { printf '%s: %s\n' "$(uname -n)" "$*" >&2; faults=1; }
        have() { command -v "$1" >/dev/null || { printf '%s: %s\n' "$(uname -n)" "$1 is not installed, so nobody asked it" >&2; return 1; }; }
        """,
        "a fault is told with the node's name, and so is what nobody asked",
    )
    yield from _gpus(placement.gpus_per_node, pool.system.nvlink_domain_gpus)
    if pool.system.nvlink_domain_gpus > pool.system.gpus:
        yield from steps(
            """
            if have nvidia-imex-ctl; then
            timeout 60 nvidia-imex-ctl -q | grep -qx READY || bad "not ready"
            fi
            """,
            "without IMEX no host maps the memory of another over NVLink",
        )
    yield from steps(
        """
        if have dcgmi && timeout 60 dcgmi discovery -l >/dev/null 2>&1; then
        timeout 300 dcgmi diag -r 1 >/dev/null || bad "found"
        fi
        """,
        "NVIDIA's diagnostics see faults that show nowhere else",
    )
    yield from _adapters(pool, design)
    for mount in needed_mounts(job, design):
        yield Step(f'timeout 60 mountpoint -q {shlex.quote(mount)} || bad {shlex.quote(mount)} "is not mounted"', "a job that saves below an empty folder fills the root disk")
    yield Step('exit "$faults"', "the batch script must hear of a fault")


def _gpus(count: int, nvlink: int) -> Iterator[Step]:
    ask = "timeout 60 nvidia-smi"
    links = f"""
    dark=$({ask} nvlink --status | grep -ci inactive)
    ((dark == 0)) || bad "dark"
    """
    yield from steps(
        rf"""
        if have nvidia-smi; then
        gpus=$({ask} --query-gpu=index --format=csv,noheader | wc -l)
        ((gpus == {count})) || bad "gpus"
        worn=$({ask} --query-gpu=index,ecc.errors.uncorrected.volatile.total --format=csv,noheader,nounits | awk -F', *' '$2 ~ /^[0-9]+$/ && $2 > 0 {{print $1}}' | tr '\n' ' ')
        [[ -z $worn ]] || bad "worn"
        waiting=$({ask} --query-remapped-rows=gpu_bus_id,remapped_rows.pending,remapped_rows.failure --format=csv,noheader | awk -F', *' '$2 ~ /^(1|Yes)$/ || $3 ~ /^(1|Yes)$/ {{print $1}}' | tr '\n' ' ')
        [[ -z $waiting ]] || bad "waiting"
        others=$({ask} --query-compute-apps=pid --format=csv,noheader | grep -x '[0-9]*' | tr '\n' ' ')
        [[ -z $others ]] || bad "others"
        {links if nvlink > 1 else ""}
        fi
        """,
        "a node with fewer GPUs, worn memory or dark links stops all ranks",
    )


def _adapters(pool: Any, design: Any) -> Iterator[Step]:
    """InfiniBand and RoCE ports by name and rate; of EFA the number alone, since its names depend on the machine."""
    ports = []
    for fabric in (design.fabric_of(pool.name, "compute"), design.fabric_of(pool.name, "storage")):
        if fabric and fabric.technology in ("infiniband", "roce"):
            ports += [f"{name} {fabric.link_gbps[pool.name]}" for name in fabric.nics[pool.name].rdma_names]
    if ports:
        listed = "\n".join(ports)
        yield from steps(
            f"""
            if have ibstat; then
            while read -r device gbps; do
            port=$(timeout 60 ibstat "$device" 1 2>&1) || port=
            [[ $port == *"State: Active"* && $port == *"Physical state: LinkUp"* ]] || {{ bad "down"; continue; }}
            rate=$(sed -n 's/^[[:space:]]*Rate: *//p' <<<"$port")
            [[ ${{rate%%.*}} =~ ^[0-9]+$ ]] || rate=0
            ((${{rate%%.*}} >= gbps)) || bad "slow"
            done <<'PORTS'
            {listed}
            PORTS
            fi
            """,
            "one port that is down or slow slows every ring that crosses it",
        )
    if pool.efa:
        yield from steps(
            f"""
            if have fi_info; then
            adapters=$(timeout 60 fi_info -p efa -t FI_EP_RDM | awk '$1 == "domain:" {{print $2}}' | sort -u | wc -l)
            ((adapters == {pool.efa})) || bad "adapters"
            fi
            """,
            f"the machine has {pool.efa} EFA adapters in the plan",
        )


def needed_mounts(job: Any, design: Any) -> list[str]:
    """Mount points of the stores that hold the job's script, data or saves."""
    spec, out = job.spec, set()
    for store in design.storage.values():
        mount = getattr(store, "mount", None)
        if mount and (store.name == spec.checkpoint_to or any(f"{path}/".startswith(f"{mount}/") for path in (spec.data_path, spec.entrypoint) if path)):
            out.add(mount)
    return sorted(out)
