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
    "IAC002": "the YAML cannot be read; the message is the reader's",
    "IAC004": "an alias that contains itself, or more values, or deeper ones, than a blueprint can need",
    "IAC005": "a key that is no text, or a merge key",
    "IAC106": "text that does not match its pattern; names are lower case letters, digits and dashes",
    "IAC107": "a value of the wrong type, unit or range; the message says what is wanted",
    "IAC207": "a cloud machine in a hall, a machine of one's own in a cloud, a fabric, store or capacity that its kind of site does not have",
    "IAC208": "parts of one thing at two sites, a pool listed twice, or a server that is not on the fabric of its file system",
    "IAC211": "a fabric that cannot be built; the message says which port, speed, size or address stands against it",
    "IAC301": "a size of the job that is below one",
    "IAC850": "Slurm was not asked, and why: it is missing, of another version, or needs root",
    "IAC851": "slurmctld does not start with these files",
    "IAC852": "slurmctld or scontrol starts, but complains",
    "IAC853": "the switches that Slurm has read are not those that the fabric implies",
    "IAC854": "topology.conf names a switch or node twice, leaves one out, or is no tree",
    "IAC855": "slurm.conf or cgroup.conf lacks, repeats or misspells what this version needs",
    "IAC856": "slurmd finds other GPUs by gres.conf than slurm.conf promises",
    "IAC857": "a rank file that Slurm would read as something else, or not at all",
    "IAC858": "a rank that sits elsewhere than the placement says",
    "IAC859": "sbatch refuses the script, or understands another job than the placement has",
    "IAC860": "Terraform was not asked, and why",
    "IAC861": "`terraform fmt` would write the file otherwise",
    "IAC862": "`terraform` init, validate, plan or test refuses the root",
    "IAC863": "the plan holds other machines, interfaces, addresses or stores than the design",
    "IAC864": "bash refuses a script that machines boot with",
    "IAC890": "NCCL was not asked, and why",
    "IAC891": "one of the NCCL files is not there",
    "IAC892": "a line that its reader, NCCL, bash, DeepSpeed or a container, takes for something else",
    "IAC893": "a variable whose name this libnccl does not know",
    "IAC894": "a value that libnccl reads as another one",
    "IAC895": "libnccl ends, or refuses, with this environment",
    "IAC896": "the dialects of one environment say different things",
    "IAC897": "an adapter, interface or traffic class that is not the fabric's",
}


@dataclass
class Found:
    """One id: its name, how bad it is, and the messages that are given with it."""

    slug: str
    severities: set[str] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)


def page(_: str) -> str:
    """The whole page. Raises ValueError naming an id of which nothing is known to say."""
    found = collect()
    out = [HEAD]
    for digit, title in STAGES.items():
        rows = [(id, f) for id, f in sorted(found.items()) if id[3] == digit]
        if rows:
            out += [f"## {title}", "", "| id | name | severity | says |", "|---|---|---|---|", *(_row(id, f) for id, f in rows), ""]
    return "\n".join(out)


def _row(id: str, found: Found) -> str:
    says = MEANS.get(id) or "; or: ".join(found.messages)
    if not says or (id[3] == "8" and id not in MEANS):
        raise ValueError(f"write a sentence for {id} {found.slug} into MEANS of docs/pages/findings.py")
    severity = ", ".join(s for s in SEVERITIES if s in found.severities) or ("info" if found.slug.endswith("-not-judged") else "error")
    return f"| {id} | {found.slug} | {severity} | {says.replace('|', chr(92) + '|')} |"


def collect() -> dict[str, Found]:
    """Every id with what is said under it. Raises ValueError when one id has two names, or one name two ids."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))]
    found: dict[str, Found] = {}
    for id, slug in (pair for tree in trees for pair in _named(tree)):
        if found.setdefault(id, Found(slug)).slug != slug:
            raise ValueError(f"{id} is called both {found[id].slug} and {slug}")
    by_slug = {f.slug: f for f in found.values()}
    if len(by_slug) != len(found):
        raise ValueError("two ids have one name")
    for tree in trees:
        _say(tree, by_slug)
    return found


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
