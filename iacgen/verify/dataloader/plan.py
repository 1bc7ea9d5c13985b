"""What the files of a job's data must say: its variables, and the steps of the copy before the start."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import Any

from ..script import Step, steps

_PORTS = {"redis": 6379, "memcached": 11211}


def words(job: Any, design: Any) -> dict[str, str]:
    """What data.env must say, as a shell reads it: name → one word."""
    it, told, spec = job.reading, job.reading.input, job.spec
    out: dict[str, Any] = {}
    if spec.host_cpus:
        out["OMP_NUM_THREADS"] = max(1, spec.host_cpus // spec.gpus_per_node - it.workers)
    if spec.framework != "megatron":
        out["TRAIN_LOADER_BATCH"] = spec.micro_batch
        out["TRAIN_LOADER_WORKERS" if told.library == "pytorch" else "TRAIN_LOADER_CALLS"] = it.workers
        if told.library == "tf.data":
            each = told.shards // spec.data_parallel if told.shards else it.workers
            out["TRAIN_LOADER_FILES"] = max(1, min(it.workers, each))
        out["TRAIN_LOADER_PREFETCH"] = it.prefetch
        out["TRAIN_SHARDS"] = max(1, spec.data_parallel // spec.nodes) if told.stage and told.stage.share else spec.data_parallel
    if told.stage:
        out["TRAIN_STAGED"] = told.stage.target
    return {name: shlex.quote(str(value)) for name, value in (out | _cached(told, design)).items()}


def _cached(told: Any, design: Any) -> dict[str, Any]:
    cache = told.cache
    if cache is None:
        return {}
    if cache.kind == "nvme":
        kept = cache.bytes or told.size_bytes
        return {"TRAIN_CACHE": cache.path} | ({"TRAIN_CACHE_BYTES": kept} if kept else {})
    pool = design.pools[cache.pool]
    return {"TRAIN_CACHE": cache.kind, "TRAIN_CACHE_SERVERS": ",".join(f"{host}:{_PORTS[cache.kind]}" for host in pool.hosts if host not in pool.down)}


def copying(job: Any) -> tuple[Step, ...]:
    """The steps of stage.sh."""
    return tuple(_copying(job.reading.input, job.spec.nodes))


def _copying(told: Any, nodes: int) -> Iterator[Step]:
    stage = told.stage
    yield Step("set -euo pipefail", "a copy that fails must stop the job")
    yield Step("""die() { printf '%s: %s\\n' "$(uname -n)" "$*" >&2; exit 1; }""", "a node that cannot copy must say why")
    if stage.source is None:
        yield from steps(
            """
            [[ ${STAGE_FROM:-} == s3://?* ]] || die "none"
            from=${STAGE_FROM%/}
            """,
            "the bucket's name is known once it has been made",
        )
    else:
        yield Step(f"from={shlex.quote(stage.source)}", "the objects are those of the blueprint")
    yield from steps(
        f"""
        to={shlex.quote(stage.target)}
        command -v aws >/dev/null || die "none"
        mkdir -p "$to"
        """,
        "the job reads them from there",
    )
    room = _room(told, nodes)
    if room:
        yield from steps(
            f"""
            free=$(($(df --output=avail -B1 "$to" | tail -n 1) + $(du -sB1 "$to" | cut -f 1)))
            ((free >= {room})) || die "room"
            """,
            "a disk that fills up stops the job much later",
        )
    if not stage.share and stage.local:
        yield Step('aws s3 sync --only-show-errors "$from" "$to"', "each node has all of the data")
        return
    yield from steps(
        r"""
        bucket=${from#s3://} prefix=
        [[ $bucket != */* ]] || prefix=${bucket#*/}/
        bucket=${bucket%%/*}
        aws s3api list-objects-v2 --bucket "$bucket" --prefix "$prefix" --query 'Contents[].[Key]' --output text |
        awk -v nodes="$SLURM_NTASKS" -v node="$SLURM_PROCID" '$0 != "None" && NR % nodes == node' |
        while IFS= read -r key; do
        file=$to/${key#"$prefix"}
        [[ $key == */ || -e $file ]] || printf '%s\0%s\0' "s3://$bucket/$key" "$file"
        done |
        xargs -0 -r -n 2 -P 8 aws s3 cp --only-show-errors
        """,
        "each node copies its part, and all of them every object once",
    )


def _room(told: Any, nodes: int) -> int:
    if told.size_bytes is None or not told.stage.local:
        return 0
    return math.ceil(told.size_bytes / nodes) if told.stage.share else told.size_bytes
