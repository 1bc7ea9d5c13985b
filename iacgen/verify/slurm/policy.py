"""What Slurm does without and a training cluster cannot: keys of slurm.conf and cgroup.conf, the cores of each GPU.

slurmctld starts without any of them. What they must be follows from the design, never from what the Slurm target wrote.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding, some
from .expected import declared_version, slurm_nodes
from .files import Line, expand, lines

# Key, the words that it must have, and what goes wrong without them (slurm.conf(5), cgroup.conf(5)).
_SLURM_CONF = (
    ("SlurmUser", "slurm", "the controller would run as root"),
    ("AuthType", "auth/munge", "anybody on the network could submit as anybody"),
    ("CredType", "cred/munge", "a node would take steps that the controller never signed"),
    ("ProctrackType", "proctrack/cgroup", "a process that leaves its parent outlives the job and keeps its GPU"),
    ("TaskPlugin", "task/affinity,task/cgroup", "ranks are bound to no cores, and a job reaches the GPUs of others"),
    ("PrologFlags", "Alloc,Contain", "a job has no container on its nodes before its first step, and nothing that joins it later is ended with it"),
    ("SelectType", "select/cons_tres", "GPUs and cores are not handed out, only whole nodes"),
    (
        "SelectTypeParameters",
        "CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK,CR_ONE_TASK_PER_CORE",
        "local rank l does not get the l-th block of cores, on the socket of its GPU",
    ),
    ("SlurmctldParameters", "enable_configless", "a host without a copy of the files cannot fetch them"),
    ("ReturnToService", "1", "a node that was only silent stays down, or one that somebody set down comes back by itself"),
    ("EnforcePartLimits", "ALL", "a job that no queue can ever run is taken and waits"),
    ("PropagateResourceLimitsExcept", "MEMLOCK", "RDMA gets the locked memory of the login shell, and NCCL fails to register its buffers"),
)
_CGROUP_CONF = (
    ("ConstrainDevices", "yes", "a job reaches the GPUs of others"),
    ("ConstrainCores", "yes", "a rank runs on the cores of others"),
    ("ConstrainRAMSpace", "yes", "a job that outgrows its memory takes the node down instead of itself"),
    ("ConstrainSwapSpace", "yes", "a rank that swaps holds all the others up"),
)
# Keys that follow from the design with other values than those above, or that only name files and times.
_PLANNED = frozenset(
    """batchstarttimeout clustername downnodes grestypes inactivelimit jobrequeue killwait launchparameters messagetimeout mpidefault nodename
    partitionname prioritytype schedulerparameters schedulertype slurmctldhost slurmctldlogfile slurmctldpidfile
    slurmctldtimeout slurmdlogfile slurmdpidfile slurmdspooldir slurmdtimeout slurmduser statesavelocation switchtype topologyparam topologyplugin
    unkillablesteptimeout""".split()
) | {key.lower() for key, _, _ in _SLURM_CONF}  # fmt: skip
_PARTITION_KEYS = {"partitionname", "nodes", "default", "maxtime", "oversubscribe", "state"}
_GPU = re.compile(r"/dev/nvidia(\d+)", re.ASCII)


def check_policy(slurm_conf: str, cgroup_conf: str, gres_conf: str, design: Any) -> list[Diagnostic]:
    """Findings where well-formed files leave out, or set otherwise, what the cluster needs."""
    of_slurm, of_cgroup = list(lines(slurm_conf)), list(lines(cgroup_conf))
    faults = [*_wanted(of_slurm, _SLURM_CONF), *_parameters(of_slurm, design), *_cluster(of_slurm, design), *_partitions(of_slurm)]
    out = [finding("malformed-slurm-conf", f"slurm.conf: {fault}") for fault in faults]
    out += [finding("malformed-slurm-conf", f"cgroup.conf: {fault}") for fault in _wanted(of_cgroup, _CGROUP_CONF)]
    return out + [finding("malformed-gres", f"gres.conf: {fault}") for fault in _devices(list(lines(gres_conf)), design)]


def _wanted(parsed: Sequence[Line], table: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    for key, words, why in table:
        given = _value(parsed, key)
        missing = [word for word in words.split(",") if word.lower() not in given.lower().split(",")]
        if missing:
            yield f"{key}={given or '(not set)'} lacks {', '.join(missing)}: {why}"


def _value(parsed: Sequence[Line], key: str) -> str:
    return next((line.get(key) for line in reversed(parsed) if line.get(key)), "")


def _parameters(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    """What the blueprint adds by hand is there, and nothing that it does not add: a Prolog of somebody's runs as root on every node."""
    added = design.scheduler.parameters
    yield from _wanted(parsed, [(key, ",".join(words), "the blueprint sets it") for key, words in added.items()])
    for line in parsed:
        if line.kind not in _PLANNED and line.kind not in {key.lower() for key in added}:
            yield f"line {line.number}: nothing in the blueprint asks for {'='.join(line.pairs[0])}"


def _cluster(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    if (name := _value(parsed, "ClusterName")) != design.name:
        yield f"ClusterName={name or '(not set)'} is another cluster's: its state and its accounts belong to {design.name}"
    if any(design.pool_of(host).gpu for host in slurm_nodes(design)) and "gpu" not in _value(parsed, "GresTypes").split(","):
        yield f"GresTypes={_value(parsed, 'GresTypes') or '(not set)'} lacks gpu: no job can ask for one"
    joined = any(system.gpus and system.nvlink_domain_gpus > system.gpus for system in (design.pool_of(host).system for host in slurm_nodes(design)))
    wanted = "switch/nvidia_imex" if joined and declared_version(design) >= (24, 5) else ""
    if (switch := _value(parsed, "SwitchType")) != wanted:
        yield f"SwitchType={switch or '(not set)'} where {wanted or 'none'} was planned: NVLink between hosts needs a channel for each job, other hosts have none"
    if (plugin := _value(parsed, "TopologyPlugin")) != f"topology/{design.scheduler.topology}":
        yield f"TopologyPlugin={plugin or '(not set)'} where topology/{design.scheduler.topology} was planned: the other reads another file"
    state = PurePosixPath(_value(parsed, "StateSaveLocation"))
    mounts = [s.mount for s in design.storage.values() if getattr(s, "mount", None)]
    if sum(line.kind == "slurmctldhost" for line in parsed) > 1 and not any(state.is_relative_to(mount) for mount in mounts):
        yield f"StateSaveLocation={state} is on no file system of the cluster: a second controller would start without the jobs"


def _partitions(parsed: Sequence[Line]) -> Iterator[str]:
    for line in (line for line in parsed if line.kind == "partitionname"):
        name = line.get("PartitionName")
        if line.get("OverSubscribe").upper() != "EXCLUSIVE":
            yield f"partition {name}: OverSubscribe={line.get('OverSubscribe') or '(not set)'} lets jobs share a node, and its adapters; EXCLUSIVE was planned"
        if line.get("State", "UP").upper() != "UP":
            yield f"partition {name}: State={line.get('State')} takes no job"
        for key, value in line.pairs:
            if key.lower() not in _PARTITION_KEYS:
                yield f"partition {name}: nothing in the blueprint asks for {key}={value}"


def _devices(parsed: Sequence[Line], design: Any) -> Iterator[str]:
    """Each GPU is one device file, with the cores of the socket that it hangs on, or with none where nobody knows the socket."""
    nodes, held = slurm_nodes(design), defaultdict(list)
    for line in parsed:
        if line.get("AutoDetect", "off").lower() != "off":
            yield f"line {line.number}: AutoDetect={line.get('AutoDetect')} lets a node register what it finds, beside what is written here"
    for line in (line for line in parsed if line.kind == "nodename"):
        hosts = [host for host in expand(line.get("NodeName")) if host in nodes]
        for file in expand(line.get("File")):
            device = _GPU.fullmatch(file)
            if not device:
                yield f"line {line.number}: {file} is no GPU of the driver's"
                continue
            for host in hosts:
                held[host].append(int(device[1]))
            for pool in sorted({design.pool_of(host).name for host in hosts}):
                yield from _cores(line, int(device[1]), design.pools[pool].system)
    wrong = [host for host, devices in held.items() if sorted(devices) != list(range(design.pool_of(host).system.gpus))]
    if wrong:
        yield f"{some(wrong)}: the device files are not those of the {design.pool_of(wrong[0]).system.gpus} GPUs, each once"


def _cores(line: Line, gpu: int, system: Any) -> Iterator[str]:
    given = line.get("Cores")
    planned: set[str] = set()
    if gpu < len(system.gpu_numa):
        first = system.gpu_numa[gpu] * system.cores_per_socket
        planned = {str(core) for core in range(first, first + system.cores_per_socket)}
    if _numbers(given) != planned:
        where = f"on socket {system.gpu_numa[gpu]}" if planned else "on a socket that the catalog does not know"
        yield f"line {line.number}: Cores={given or '(not set)'} for GPU {gpu}, which hangs {where} of {system.id}"


def _numbers(cores: str) -> set[str]:
    try:
        return set(expand(f"[{cores}]")) if cores else set()
    except ValueError:
        return {cores}
