"""``docs/findings.md``: every finding that iacgen can make, read out of the places where it is made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "iacgen"
ID = re.compile(r"IAC\d{3}")
SEVERITIES = ("error", "warning", "info")
STAGES = {
    "0": "The file: is it YAML that all readers take for the same?",
    "1": "The language: is it a blueprint?",
    "2": "The cluster: do its parts fit each other and the catalog?",
    "3": "The job: do its numbers divide, does it fit the GPUs?",
    "4": "The placement: is there a host for each rank?",
    "8": "The judges: what the programs that read the files say",
}
HEAD = """\
# Findings

<!-- docs/generate.py writes this page out of the places in iacgen/ that make findings. -->

Each finding has an id that never changes its meaning and a name for the thing found. An error stops the run: nothing is written.
A warning or an info does not. Each is shown at the place in the blueprint that caused it. In the messages below, `…` stands for
what the blueprint says.
"""
# What the sources do not say in one plain sentence: the words come from a program that was asked, or differ by case.
MEANS = {
    "yaml-syntax": "the YAML cannot be read; the message is the reader's",
    "yaml-bomb": "an alias that contains itself, or more values, or deeper ones, than a blueprint can need",
    "bad-key": "a key that is no text, or a merge key",
    "malformed-text": "text that does not match its pattern; names are lower case letters, digits and dashes",
    "wrong-value": "a value of the wrong type, unit or range; the message says what is wanted",
    "wrong-kind-of-site": "a cloud machine in a hall, a machine of one's own in a cloud, a fabric, store or capacity that its kind of site does not have",
    "parts-at-two-sites": "parts of one thing at two sites, a pool listed twice, or a server that is not on the fabric of its file system",
    "impossible-fabric": "a fabric that cannot be built; the message says which port, speed, size or address stands against it",
    "number-below-one": "a size of the job that is below one",
    "slurm-not-judged": "Slurm was not asked, and why: it is missing, of another version, or needs root",
    "slurm-refused": "slurmctld does not start with these files",
    "slurm-complaint": "slurmctld or scontrol starts, but complains",
    "topology-not-of-fabric": "the switches that Slurm has read are not those that the fabric implies",
    "malformed-topology": "topology.conf names a switch or node twice, leaves one out, or is no tree",
    "malformed-slurm-conf": "slurm.conf or cgroup.conf lacks, repeats or misspells what this version needs",
    "malformed-gres": "slurmd finds other GPUs by gres.conf than slurm.conf promises",
    "malformed-rank-file": "a rank file that Slurm would read as something else, or not at all",
    "rank-order": "a rank that sits elsewhere than the placement says",
    "batch-script": "sbatch refuses the script, or understands another job than the placement has",
    "terraform-not-judged": "Terraform was not asked, and why",
    "terraform-unformatted": "`terraform fmt` would write the file otherwise",
    "terraform-refused": "`terraform` init, validate, plan or test refuses the root",
    "plan-not-of-design": "the plan holds other machines, interfaces, addresses or stores than the design",
    "shell-syntax": "bash refuses a script that machines boot with",
    "ansible-not-judged": "Ansible was not asked, and why",
    "ansible-refused": "ansible-playbook or ansible-inventory cannot read the site",
    "ansible-lint-complaint": "ansible-lint complains in its production profile",
    "inventory-not-of-design": "Ansible makes other hosts, groups or addresses of the inventory than the design has",
    "missing-role-file": "a role names a file, template or other role that is not there",
    "broken-expression": "an expression that does not parse, or a filter, test or variable that nothing defines",
    "unknown-handler-or-group": "a handler or group that nothing defines, or two handlers of one name",
    "unused-variable": "a variable of the inventory that no role takes",
    "ungated-action": "what touches a running system does not stand behind `cluster_live`, so that a rehearsal would do it",
    "secret-in-tree": "something secret stands in a file",
    "deepspeed-not-judged": "DeepSpeed was not asked, and why",
    "deepspeed-refused": "DeepSpeed's configuration class or hostfile reader refuses the file",
    "unread-deepspeed-key": "a key that DeepSpeed passes over in silence",
    "idle-deepspeed-value": "a value that has no effect beside the others",
    "deepspeed-not-of-plan": "DeepSpeed understands another job than was planned",
    "hostfile-not-of-placement": "the hostfile has other hosts, another order or other slots than the placement",
    "training-file-missing": "one of a job's files is not there, or belongs to no job",
    "launch-not-of-plan": "a launch script that is no shell, or that is for other ranks or hosts than were planned",
    "megatron-not-judged": "megatron-core was not asked, and why",
    "megatron-refused": "megatron-core refuses the configuration",
    "megatron-not-of-plan": "the arguments make another job than was planned",
    "group-not-of-placement": "megatron-core groups the ranks otherwise than the placement assumes",
    "unplanned-megatron-argument": "an argument that follows from nothing in the plan",
    "idle-megatron-argument": "an argument that has no effect beside the others",
    "nccl-not-judged": "NCCL was not asked, and why",
    "nccl-file-missing": "one of the NCCL files is not there",
    "malformed-environment": "a line that its reader, NCCL, bash, DeepSpeed or a container, takes for something else",
    "unknown-nccl-variable": "a variable whose name this libnccl does not know",
    "nccl-value-changed": "a value that libnccl reads as another one",
    "nccl-refused": "libnccl ends, or refuses, with this environment",
    "dialects-disagree": "the dialects of one environment say different things",
    "nccl-not-of-fabric": "an adapter, interface or traffic class that is not the fabric's",
}


@dataclass
class Found:
    """One finding: id, name, how bad it is, and the messages that are given with it."""

    id: str
    slug: str
    severities: set[str] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)


def page(_: str) -> str:
    """The whole page. Raises ValueError naming a finding of which nothing is known to say."""
    found = sorted(collect(), key=lambda f: (f.id, f.slug))
    out = [HEAD]
    for digit, title in STAGES.items():
        rows = [_row(f) for f in found if f.id[3] == digit]
        if rows:
            out += [f"## {title}", "", "| id | name | severity | says |", "|---|---|---|---|", *rows, ""]
    return "\n".join(out)


def _row(found: Found) -> str:
    says = MEANS.get(found.slug) or "; or: ".join(found.messages)
    if not says or (found.id[3] == "8" and found.slug not in MEANS):
        raise ValueError(f"write a sentence for {found.slug} ({found.id}) into MEANS of docs/pages/findings.py")
    severity = ", ".join(s for s in SEVERITIES if s in found.severities) or ("info" if found.slug.endswith("-not-judged") else "error")
    return f"| {found.id} | {found.slug} | {severity} | {says.replace('|', chr(92) + '|')} |"


def collect() -> list[Found]:
    """Every finding with what is said under it. A test holds that an id has one name, and a name one id."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    by_slug = {slug: Found(id, slug) for tree in trees for id, slug in _named(tree)}
    for tree in trees:
        _say(tree, by_slug)
    return list(by_slug.values())


def _named(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(id, slug): side by side in a call, or as ``slug: id`` in a mapping."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = [(_text(k), _text(v)) for k, v in zip(node.keys, node.values, strict=True)]
            yield from ((v, k) for k, v in pairs if k and v and ID.fullmatch(v))
        if isinstance(node, ast.Call):
            for first, second in zip(node.args, node.args[1:], strict=False):
                id, slug = _id(first), _text(second)
                if id and slug:
                    yield id, slug


def _id(node: ast.expr) -> str | None:
    """``"IAC123"``, or the bare number 3xx that the training room's helper takes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and 300 <= node.value < 400:
        return f"IAC{node.value}"
    text = _text(node)
    return text if text and ID.fullmatch(text) else None


def _say(tree: ast.AST, by_slug: dict[str, Found]) -> None:
    """Note severity and message of each call that names a slug."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)] or [tree]
    for function in functions:
        for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
            at = next((i for i, a in enumerate(call.args) if _text(a) in by_slug), None)
            if at is None:
                continue
            found, rest = by_slug[_text(call.args[at]) or ""], call.args[at + 1 :]
            if rest and _text(rest[0]) in SEVERITIES:
                found.severities.add(_text(rest[0]) or "")
                rest = rest[1:]
            for message in _messages(rest[0], function) if rest else ():
                if message not in found.messages:
                    found.messages.append(message)


def _messages(node: ast.expr, function: ast.AST) -> list[str]:
    """The texts that an expression can have, as far as they stand in the source; its values as ``…``."""
    if isinstance(node, ast.IfExp):
        return [*_messages(node.body, function), *_messages(node.orelse, function)]
    if isinstance(node, ast.Name):
        values = [n.value for n in ast.walk(function) if isinstance(n, ast.Assign) and n.lineno <= node.lineno and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)]
        last = max(values, key=lambda v: v.lineno, default=None)
        return [] if last is None or isinstance(last, ast.Name) else _messages(last, function)
    if isinstance(node, ast.JoinedStr):
        return [re.sub("…+", "…", "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values))]
    text = _text(node)
    return [text] if text else []


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
