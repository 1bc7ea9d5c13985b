"""README.md of the tree: what lies here, what to run next, in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from iacgen.design.model import Design
from iacgen.placement.project import Project
from iacgen.render import render as render_template

_WHAT = {
    "report.md": "the design on a page: counts, power, memory, placement, assumptions",
    "terraform": "Terraform root of a cloud site; data in terraform.tfvars.json, the rest is fixed",
    "ansible": "playbook, roles and inventory of an on-prem site; data in inventory/, the rest is fixed",
    "slurm": "Slurm's files; for each job its batch script and its rank file",
    "kubernetes": "manifests",
    "fabric": "switches and cables of a fabric",
    "facility": "racks, power and cooling",
    "nccl": "NCCL's environment in the dialect of each reader",
    "training": "framework configuration, hostfile and launch script of a job",
    "monitoring": "scrape configuration, alert rules, dashboards",
    ".iacgen": "the blueprint with every default written out, and the list of files for the next run",
}
_ONE_FOLDER_EACH = {"terraform", "ansible", "fabric", "training"}
"""Folders that hold one folder for each thing, listed one by one."""


@dataclass(frozen=True)
class Step:
    """One thing to do: a sentence before the commands, and the lines of shell."""

    title: str
    text: str
    commands: tuple[str, ...]


def render(project: Project, paths: Sequence[str]) -> dict[str, str]:
    """``README.md`` for a tree of these paths."""
    tops = {path.partition("/")[0] for path in paths}
    jobs = tuple(sorted(project.jobs))
    text = render_template("readme/README.md.j2", name=project.name, entries=entries(paths), steps=steps(project.design, jobs, tops))
    return {"README.md": text}


def entries(paths: Sequence[str]) -> tuple[tuple[str, str, int], ...]:
    """(path, what it is, files) of everything at the top of the tree, in the order of the table above.

    Raises KeyError for a folder that has no words yet.
    """
    files = Counter(_entry(path) for path in paths if path != "README.md")
    order = list(_WHAT)
    return tuple((path, _WHAT[top], n) for (top, path), n in sorted(files.items(), key=lambda e: (order.index(_known(e[0][0])), e[0][1])))


def _entry(path: str) -> tuple[str, str]:
    top, _, rest = path.partition("/")
    if not rest:
        return top, top
    return (top, f"{top}/{rest.partition('/')[0]}/") if top in _ONE_FOLDER_EACH else (top, f"{top}/")


def _known(top: str) -> str:
    if top not in _WHAT:
        raise KeyError(f"README.md has no words for {top}")
    return top


def steps(design: Design, jobs: tuple[str, ...], tops: set[str]) -> tuple[Step, ...]:
    """What to do, in order; only what the tree has files for."""
    out = [Step("Ask the programs", "Hands each file to the program that will read it. What is not installed is named.", ("iacgen verify .",))]
    for site in sorted(design.sites.values(), key=lambda s: s.name):
        if site.kind == "aws" and "terraform" in tops:
            out.append(_terraform(site.name))
        if site.kind == "on-prem" and "ansible" in tops:
            out.append(_ansible(site.name, design.scheduler is not None))
    if jobs and design.scheduler and "slurm" in tops:
        out.append(_slurm(design, jobs))
    return tuple(out)


def _terraform(site: str) -> Step:
    root = f"terraform -chdir=terraform/{site}"
    return Step(
        f"Build {site}",
        f"Runs with the credentials of your shell. The image is yours to choose; a backend for the state goes into terraform/{site}/backend.tf, which stays untouched when this tree is generated again.",
        ("export TF_VAR_ami=ami-0123456789abcdef0  # your image", f"{root} init", f"{root} plan -out=cluster.plan", f"{root} apply cluster.plan"),
    )


def _ansible(site: str, munge: bool) -> Step:
    key = ("export IACGEN_MUNGE_KEY_B64=\"$(cat ~/munge.key.b64)\"  # made once by: head -c 128 /dev/urandom | base64 -w0",) if munge else ()
    return Step(
        f"Set up {site}",
        "Needs the hosts installed and reachable by SSH at the management addresses of the plan. Running it again changes nothing that is right already.",
        (f"cd ansible/{site}", *key, "ansible 'all:!hosts_down' -m ansible.builtin.ping", "ansible-playbook site.yml", "cd ../.."),
    )


def _slurm(design: Design, jobs: tuple[str, ...]) -> Step:
    scripts = tuple(f"sbatch slurm/{job}.sbatch" for job in jobs)
    assert design.scheduler
    if design.sites[design.scheduler.site].kind == "aws":
        shared = sorted(s.mount for s in design.storage.values() if s.kind == "fsx-lustre")
        note = "On the head node, in a login shell: every machine keeps its own copy of this folder in /opt/cluster. The Terraform output named head is the instance id."
        return Step("Train", note, (f"cd {quote(shared[0] if shared else '/opt/cluster')}", *(f"sbatch /opt/cluster/slurm/{job}.sbatch" for job in jobs)))
    mounts = sorted(s.mount for s in design.storage.values() if s.kind == "lustre")
    where = mounts[0] if mounts else "/srv"
    note = f"On a login or control host, from a copy of this folder on {where}." if mounts else f"From a copy of this folder at the same place on every node, such as {where}."
    return Step("Train", note, (f"cd {quote(where)}/{design.name}", *scripts))
