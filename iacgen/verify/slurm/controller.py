"""Start slurmctld on a copy of the files and ask it what it has read."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding, some
from .blocks import block_differences, check_reach, read_blocks
from .expected import by_block, declared_version, differences, implied, racks, read, slurm_nodes
from .files import expand, lines
from .installation import Daemon, Installation, free_ports, munged
from .sandbox import WITHOUT_CGROUPS, cgroup_conf, gres_conf, machine_lines, slurm_conf

_START_S = 60.0

# What slurmctld says at the first start of any cluster, or because this machine is busy, or has no mailer and no PMIx.
_NOISE = re.compile(
    r"MailProg|pmix|state (save )?file|[Ii]nformation may be lost|may be lost|No reservation|NOTE: Trying|not running as SlurmUser|very large processing time|calls to gettimeofday", re.IGNORECASE
)
_WORRY = re.compile(r"fatal|error|warning|No switches|can ?not|ignoring|obsolete|defunct", re.IGNORECASE)
_SLURMD_NOISE = re.compile(r"despite slurmctld having been setup for configless|xcpuinfo_hwloc_topo_load")  # no cache of the topology yet
_NO_COMMON_ROOT = "no switch can reach all nodes"


def ask_daemons(slurm: Installation, texts: Mapping[str, str], project: Any) -> list[Diagnostic]:
    """All that slurmctld, slurmd and sbatch have against the files (name → text); each starts on a copy in ``slurm.work``."""
    return [replace(f, message=f.message.replace(f"{slurm.work}/", "")) for f in _ask(slurm, texts, project)]


def _ask(slurm: Installation, texts: Mapping[str, str], project: Any) -> list[Diagnostic]:
    with munged(slurm) as socket:
        _write(slurm, texts, socket, declared_version(project.design))
        out = list(_gres(slurm, project))
        with slurm.daemon("slurmctld", "slurmctld", "-D", "-i", "-f", slurm.work / "slurm.conf") as controller:
            if not started(slurm, controller):
                last = [line for line in complaints(controller.said) if "fatal" in line or "error" in line.lower()]
                return [*out, finding("slurm-refused", f"slurmctld does not start: {'; '.join(last[-2:]) or controller.said.strip()[-300:]}")]
            out += [*_plugins(slurm, texts), *_tree(slurm, project)]
            for job in sorted(project.placements):
                out += _batch(slurm, job, project)
            said = controller.said
    allowed = not by_block(project.design) and implied(project.design).islands > 1
    return out + [finding("slurm-complaint", f"slurmctld says: {line}") for line in complaints(said) if not (allowed and _NO_COMMON_ROOT in line)]


def started(slurm: Installation, controller: Daemon) -> bool:
    """True when slurmctld has read everything and answers. What it logs is not waited for: a quiet one logs nothing."""
    end = time.monotonic() + _START_S
    while not slurm.run("scontrol", "ping").ok:
        if time.monotonic() > end or controller.process.poll() is not None:
            return False
        time.sleep(0.1)
    return True


def complaints(log: str) -> list[str]:
    """Lines of a slurmctld log that worry, without time stamps and program names, without the noise of every first start."""
    bare = (re.sub(r"^(\[[^]]*\] |slurmctld: )+", "", line) for line in log.splitlines())
    return [line for line in bare if _WORRY.search(line) and not _NOISE.search(line)]


def _write(slurm: Installation, texts: Mapping[str, str], socket: Path, version: tuple[int, int]) -> None:
    for folder in ("state", "spool", "log", "node"):
        (slurm.work / folder).mkdir(exist_ok=True)
    machine = machine_lines(slurm.work, socket, free_ports(2))
    own = {"slurm.conf": slurm_conf(texts["slurm.conf"], machine), "gres.conf": gres_conf(texts["gres.conf"], slurm.work)}
    # slurmd starts control groups even to print what it would register; its copy does without.
    node = {"slurm.conf": slurm_conf(texts["slurm.conf"], machine | WITHOUT_CGROUPS), "gres.conf": own["gres.conf"], "cgroup.conf": cgroup_conf(version)}
    for name, text in {**texts, **own, **{f"node/{name}": text for name, text in node.items()}}.items():
        (slurm.work / name).write_text(text, encoding="utf-8")


def _gres(slurm: Installation, project: Any) -> Iterator[Diagnostic]:
    """slurmd prints the devices that it would register, without a controller."""
    for pool in project.design.pools.values():
        if not pool.gpu or pool.hosts[0] not in slurm_nodes(project.design):
            continue
        (slurm.work / "spool" / pool.hosts[0]).mkdir()
        answer = slurm.run("slurmd", "-N", pool.hosts[0], "-f", slurm.work / "node/slurm.conf", "-G")
        count = sum(int(n) for n in re.findall(rf"Gres Name=gpu Type={pool.gpu.slurm_type} Count=(\d+)", answer.err))
        worries = [line.removeprefix("slurmd: ") for line in answer.err.splitlines() if _WORRY.search(line) and not _SLURMD_NOISE.search(line)]
        if worries or not answer.ok or count != pool.system.gpus:
            yield finding("malformed-gres", f"slurmd of {pool.hosts[0]} finds {count} of {pool.system.gpus} GPUs: {'; '.join(worries[:3])}")


def _tree(slurm: Installation, project: Any) -> Iterator[Diagnostic]:
    answer = slurm.run("scontrol", "show", "topology")
    if not answer.ok:
        yield finding("slurm-complaint", f"scontrol show topology: {answer.err.strip()}")
        return
    if by_block(project.design):
        for difference in block_differences(racks(project.design), read_blocks(answer.out)):
            yield finding("topology-not-of-fabric", f"Slurm has read other blocks than the NVLink domains: {difference}")
        yield from check_reach(answer.out, project)
        return
    got, names = read(answer.out)
    for difference in differences(implied(project.design), got, names):
        yield finding("topology-not-of-fabric", f"Slurm has read another tree than the fabric's: {difference}")


def _plugins(slurm: Installation, texts: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Plugins that slurm.conf names and this Slurm has not: those of slurmd are not missed by slurmctld."""
    shown = slurm.run("scontrol", "show", "config").out
    folders = re.search(r"^PluginDir\s*= (\S+)", shown, re.MULTILINE)
    named = [(line, word) for line in lines(texts["slurm.conf"]) for word in line.pairs[0][1].split(",") if re.fullmatch(r"[a-z_]+/[a-z_]+", word)]
    for line, word in named:
        file = word.replace("/", "_") + ".so"
        if folders and not word.endswith("/none") and not any((slurm.folder(place) / file).exists() for place in folders[1].split(":")):
            yield finding("malformed-slurm-conf", f"slurm.conf:{line.number}: this Slurm has no plugin {word}")


def _batch(slurm: Installation, job: str, project: Any) -> Iterator[Diagnostic]:
    """Hand the batch script in, held so that nothing starts, and compare what Slurm understood with the placement."""
    placement, path = project.placements[job], ("training", job)
    script = slurm.work / f"{job}.sbatch"
    health = slurm.run("bash", "-n", slurm.work / f"{job}.health")
    if not health.ok:
        yield finding("batch-script", f"{job}.health: {health.err.strip()}", path)
    shell = slurm.run("bash", "-n", script)
    answer = slurm.run("sbatch", "--parsable", "--hold", script)
    if not (shell.ok and answer.ok) or answer.err.strip():
        yield finding("batch-script", f"{job}.sbatch is refused: {shell.err.strip()}{answer.err.strip()}", path)
        return
    shown = slurm.run("scontrol", "--oneliner", "show", "job", answer.out.strip()).out
    facts = dict(pair.partition("=")[::2] for pair in shown.split())
    nodes, per_node = len(placement.hosts), placement.gpus_per_node
    differ = set(expand(facts.get("ReqNodeList", ""))) ^ set(placement.hosts)
    if differ:
        yield finding("batch-script", f"{job}.sbatch asks for other nodes than the placement has: {some(differ)}", path)
    wanted = {  # how 22.05 and 24.11 print it
        "NumNodes": (f"{nodes}", f"{nodes}-{nodes}"),
        "NumTasks": (f"{nodes * per_node}",),
        "NtasksPerN:B:S:C": (f"{per_node}:0:*:1", f"{per_node}:0:*:*"),
        "TresPerNode": (f"gres/gpu:{per_node}", f"gres:gpu:{per_node}"),
        "Requeue": ("1",),
    }
    for key, accepted in wanted.items():
        if facts.get(key) not in accepted:
            yield finding("batch-script", f"{job}.sbatch: Slurm understood {key}={facts.get(key)}, the placement needs {accepted[0]}", path)
    cpus = sum(project.design.pool_of(host).system.cpus for host in placement.hosts)
    if int(facts.get("NumCPUs", "0").partition("-")[0]) > cpus:
        yield finding("batch-script", f"{job}.sbatch asks for {facts['NumCPUs']} processors, and its nodes have {cpus}", path)
