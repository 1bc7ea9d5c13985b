"""What the daemons accept in silence, or say only on the node, and must be refused all the same.

Each function takes the text of one file and what it must agree with; it returns findings and starts nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding, some
from .files import Line, expand, lines
from .words import DEAD_KEYS, Version, unknown_words

_SUFFIX_SINCE = (23, 11)  # text after a bracket: "Invalid hostlist" before
_CGROUP_PLUGINS = ("autodetect", "cgroup/v1", "cgroup/v2")
_HOST = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)


def check_slurm_conf(text: str, version: Version) -> list[Diagnostic]:
    """Dead keys, unknown words, node lists that do not expand, more addresses than names, a MaxNodeCount above the count."""
    parsed = _parsed(text, "malformed-slurm-conf", "slurm.conf")
    if isinstance(parsed, Diagnostic):
        return [parsed]
    out, count = [], 0
    for line in parsed:
        for key, value in line.pairs:
            if key.lower() in DEAD_KEYS:
                out.append(_conf(line, f"{key} has no effect"))
            for word in unknown_words(key, value, version):
                out.append(_conf(line, f"{key} of Slurm {_text(version)} knows no {word!r}, and slurmctld would not say so"))
        for key in ("NodeName", "NodeAddr", "Nodes", "DownNodes"):
            out += [_conf(line, f"{key}: {fault}") for fault in _hostlist_faults(line.get(key), version)]
        if line.kind == "nodename" and not out:
            names, addresses = expand(line.get("NodeName")), expand(line.get("NodeAddr"))
            count += len(names)
            if addresses and len(addresses) != len(names):
                out.append(_conf(line, f"{len(names)} names but {len(addresses)} addresses"))
    most = next((int(line.get("MaxNodeCount")) for line in parsed if re.fullmatch("[0-9]+", line.get("MaxNodeCount"))), 0)
    if most > count and not out:
        out.append(finding("malformed-slurm-conf", f"slurm.conf: MaxNodeCount={most} is above the {count} nodes named and adds phantom nodes"))
    return out


def check_topology(text: str, nodes: Collection[str], version: Version, islands: int = 1) -> list[Diagnostic]:
    """A tree that holds each of ``nodes`` once. ``islands`` is the number of trees that the fabrics form: 1 but for a hybrid."""
    parsed = _parsed(text, "malformed-topology", "topology.conf")
    if isinstance(parsed, Diagnostic):
        return [parsed]
    faults = [fault for line in parsed for fault in _switch_faults(line, version)]
    names = [line.get("SwitchName") for line in parsed]
    faults += [f"switch {name} is defined {n} times" for name, n in Counter(names).items() if n > 1]
    if not parsed:
        faults.append("no switch at all")
    if not faults:
        faults += _node_faults(parsed, nodes) + _shape_faults(parsed, islands)
    return [finding("malformed-topology", f"topology.conf: {fault}") for fault in faults]


def _switch_faults(line: Line, version: Version) -> list[str]:
    name = line.get("SwitchName")
    keys = {key.lower() for key, _ in line.pairs}
    faults = [f"line {line.number}: unknown key {key}" for key in sorted(keys - {"switchname", "nodes", "switches", "linkspeed"})]
    if not name or re.search(r"[\[\],]", name):
        faults.append(f"line {line.number}: {name!r} is not the name of one switch")
    if len(name) > 64:
        faults.append(f"line {line.number}: a switch name of {len(name)} characters; 24.11 starts with 64 at most")
    if ("nodes" in keys) == ("switches" in keys):
        faults.append(f"line {line.number}: a switch has either Nodes or Switches")
    for key in ("Nodes", "Switches"):
        faults += [f"line {line.number}: {fault}" for fault in _hostlist_faults(line.get(key), version)]
    return faults


def _node_faults(parsed: Sequence[Line], nodes: Collection[str]) -> list[str]:
    held = Counter(node for line in parsed for node in expand(line.get("Nodes")))
    wrong = {
        "in no switch": set(nodes) - set(held),
        "unknown to slurm.conf": set(held) - set(nodes),
        "in two leaves": {node for node, n in held.items() if n > 1},
    }
    return [f"{some(names)}: {what}" for what, names in wrong.items() if names]


def _shape_faults(parsed: Sequence[Line], islands: int) -> list[str]:
    children = {line.get("SwitchName"): expand(line.get("Switches")) for line in parsed}
    parents = Counter(child for below in children.values() for child in below)
    faults = [f"{child} is no switch" for child in parents if child not in children]
    faults += [f"switch {child} has {n} parents, and a tree has one" for child, n in parents.items() if n > 1]
    roots = [name for name in children if name not in parents]
    reached, todo = set(), list(roots)
    while todo and not faults:
        name = todo.pop()
        reached.add(name)
        todo += children[name]
    if not faults and len(reached) < len(children):
        faults.append(f"{some(set(children) - reached)}: a cycle, not a tree")
    if not faults and len(roots) != islands:
        faults.append(f"{len(roots)} trees ({some(roots)}) where the fabrics form {islands}")
    return faults


def check_cgroup_conf(text: str) -> list[Diagnostic]:
    """slurmctld reads the keys and the switches, but any name of a plugin."""
    parsed = _parsed(text, "malformed-slurm-conf", "cgroup.conf")
    if isinstance(parsed, Diagnostic):
        return [parsed]
    named = [(line, line.get("CgroupPlugin")) for line in parsed if line.kind == "cgroupplugin"]
    return [finding("malformed-slurm-conf", f"cgroup.conf:{line.number}: no plugin {name!r}") for line, name in named if name not in _CGROUP_PLUGINS]


def check_gres(text: str, slurm_conf: str) -> list[Diagnostic]:
    """Every GPU that slurm.conf promises has a device file, and no other has one; every line names its nodes."""
    parsed = _parsed(text, "malformed-gres", "gres.conf")
    if isinstance(parsed, Diagnostic):
        return [parsed]
    devices = [line for line in parsed if line.kind != "autodetect"]
    faults = [f":{line.number}: {fault}" for line in devices for fault in _gres_faults(line)]
    if not faults:
        found = Counter((node, line.get("Name"), line.get("Type")) for line in devices for node in expand(line.get("NodeName")) for _ in expand(line.get("File")))
        promised = _promised(list(lines(slurm_conf)))
        differ = [key for key in found | promised if found[key] != promised[key]]
        faults = [f": {key[0]} has {found[key]} device files of {key[1]}:{key[2]}, slurm.conf promises {promised[key]}" for key in differ[:5]]
    return [finding("malformed-gres", f"gres.conf{fault}") for fault in faults]


def _gres_faults(line: Line) -> list[str]:
    if line.kind != "nodename":
        return ["begin with NodeName: the line counts for every node otherwise"]
    if not line.get("File"):
        return ["no File; a Count alone drains the node"]
    return [fault for key in ("NodeName", "File") for fault in _hostlist_faults(line.get(key), _SUFFIX_SINCE)]


def _promised(conf: Sequence[Line]) -> Counter[tuple[str, str, str]]:
    """(node, name, type) → count of ``Gres=name[:type][:count]``; the count is 1 where none is given."""
    out: Counter[tuple[str, str, str]] = Counter()
    for line in (line for line in conf if line.kind == "nodename"):
        for name, *rest in (gres.split(":") for gres in line.get("Gres").split(",") if gres):
            count = int(rest.pop()) if rest and re.fullmatch("[0-9]+", rest[-1]) else 1
            for node in expand(line.get("NodeName")):
                out[node, name, ":".join(rest)] += count
    return out


def check_ranks(text: str, nodes: Collection[str], order: Sequence[str], per_node: int, job: str) -> list[Diagnostic]:
    """A rank file: ``per_node`` lines for each host of ``order``, in that order, all of them names of ``nodes``."""
    path = ("training", job)
    if not text.endswith("\n") or "\r" in text:
        return [finding("malformed-rank-file", f"{job}.ranks: lines end with a line feed alone, the last one too", path)]
    names = text.removesuffix("\n").split("\n")
    faults = [f"line {n}: {name!r} is not a bare node name" for n, name in enumerate(names, 1) if not _HOST.fullmatch(name)]
    if len(names) != len(order) * per_node:
        faults.append(f"{len(names)} lines for {len(order) * per_node} ranks; srun would cut the rest off in silence")
    uneven = {name: n for name, n in Counter(names).items() if n != per_node}
    faults += [f"{name} stands there {n} times, not {per_node}" for name, n in sorted(uneven.items())[:5]]
    unknown = set(names) - set(nodes)
    if unknown:
        faults.append(f"{some(unknown)}: no node of slurm.conf")
    if faults:
        return [finding("malformed-rank-file", f"{job}.ranks: {fault}", path) for fault in faults]
    wanted = [host for host in order for _ in range(per_node)]
    wrong = [(n, name, want) for n, (name, want) in enumerate(zip(names, wanted, strict=True)) if name != want]
    if not wrong:
        return []
    rank, name, want = wrong[0]
    return [finding("rank-order", f"{job}.ranks: {len(wrong)} ranks sit elsewhere than planned; the first is rank {rank}, on {name} and not on {want}", path)]


def check_batch(text: str, job: str) -> list[Diagnostic]:
    """The one form of a rank map that every version obeys: the file as prefix of one ``srun -m arbitrary`` inside the job."""
    header = [line for line in text.splitlines() if line.startswith("#SBATCH")]
    starts = [line for line in text.splitlines() if re.search(r"\bsrun\b", line) and not line.startswith("#")]
    faults = []
    if any(re.search(r"--distribution|\s-m\b", line) for line in header):
        faults.append("a distribution in the header sticks to every srun of the job")
    if not any(re.search(r"^SLURM_HOSTFILE=\S+ srun .*(--distribution=|-m )arbitrary", line) for line in starts):
        faults.append("no srun with SLURM_HOSTFILE as its prefix and the distribution arbitrary")
    if any(re.search(r"\s(-N|--nodes)\b", line) for line in starts):
        faults.append("srun with a node count beside arbitrary, which 23.11 and later refuse")
    if any("--gpus-per-task" in line for line in (*header, *starts)):
        faults.append("--gpus-per-task hides the peers' GPUs from a rank, and NCCL loses NVLink")
    if not any("--exclusive" in line for line in header):
        faults.append("not --exclusive: the processors of the nodes are split unevenly")
    return [finding("batch-script", f"{job}.sbatch: {fault}", ("training", job)) for fault in faults]


def _hostlist_faults(hostlist: str, version: Version) -> list[str]:
    try:
        expand(hostlist)
    except ValueError as error:
        return [str(error)]
    if version < _SUFFIX_SINCE and re.search(r"\][^,\[\]]", hostlist):
        return [f"{hostlist!r} has text after a bracket, which Slurm reads from {_text(_SUFFIX_SINCE)} on"]
    return []


def _parsed(text: str, slug: str, file: str) -> list[Line] | Diagnostic:
    try:
        return list(lines(text))
    except ValueError as error:
        return finding(slug, f"{file}: {error}")


def _conf(line: Line, fault: str) -> Diagnostic:
    return finding("malformed-slurm-conf", f"slurm.conf:{line.number}: {fault}")


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]:02d}"
