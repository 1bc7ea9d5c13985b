"""``docs/changes.md``: what a change of each key means for a cluster that runs, out of ``iacgen/review/policies/``."""

from __future__ import annotations

from collections.abc import Iterator

from iacgen.blueprint import Blueprint
from iacgen.review.model import Effect
from iacgen.review.policies import POLICIES
from iacgen.review.rule import Example, Rule

from . import blueprint

HEAD = """\
# What a change means

<!-- docs/generate.py writes this page out of iacgen/review/policies/. -->

Every key of the [blueprint](blueprint.md) says what changing it asks of a cluster that runs. Of the rows of a key the first
one whose condition holds is what a change comes to. A tree is only text: what is said here happens when its files are rolled
out with Ansible or `terraform apply`. The role of Slurm starts slurmctld and slurmd again whenever a file of theirs has
changed, which does no less than what is asked here, and jobs outlive it. The order of maps, comments, the names of anchors and defaults that are written out are no change.

Each row has an edit of a shipped blueprint that comes to it; the tests make all of them. Words in braces stand for parts of
the change: `{name}` for the name of the section, `{entry}` for the last word of its path, `{old}` and `{new}` for its values.

From the mildest to the worst:
"""

_MEANINGS = {
    Effect.NOTHING: "What runs stays as it is; a job may start differently next time.",
    Effect.RECONFIGURE: "Files are put in place and read again while jobs run, or something is added beside what is there.",
    Effect.RESTART: "A daemon starts again; jobs outlive it when it is done as described.",
    Effect.DRAIN: "Nodes have to be empty of jobs for it.",
    Effect.REPLACE: "Machines go and others take their place.",
    Effect.STOP: "No job runs on any node meanwhile.",
    Effect.RECABLE: "Somebody pulls cables.",
    Effect.DESTROY: "Data is lost, or Terraform refuses the whole plan so that it is not.",
    Effect.IMPOSSIBLE: "There is no way from the one to the other.",
}


def page(_: str) -> str:
    """The whole page."""
    return HEAD + "\n" + "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield "| what | means |"
    yield "|---|---|"
    yield from (f"| {effect.words} | {_MEANINGS[effect]} |" for effect in Effect)
    paths: dict[str, list[str]] = {}
    for path, model in blueprint.sections(Blueprint, ""):
        paths.setdefault(model.__name__, []).append(path)
    for section, table in POLICIES.items():
        yield from ("", f"## {' and '.join(f'`{p}`' if p else 'The whole file' for p in paths[section])}" + (f", {section}" if section in _KINDS else ""), "")
        yield "| key | when | what | why | what to do | such as |"
        yield "|---|---|---|---|---|---|"
        yield from (_row(key, rule) for key, rules in table.items() for rule in rules)


_KINDS = {name for name in POLICIES if name.endswith(("Site", "Lustre", "S3", "Cache", "Block", "Reservation"))}


def _row(key: str, rule: Rule) -> str:
    cells = (f"`{key}`", rule.when.words, rule.effect.words, rule.reason, rule.action, _edit(rule.example))
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "\\<") for cell in cells) + " |"


def _edit(example: Example) -> str:
    """The assignments that differ; one that goes is said so."""
    come, gone = [s for s in example.new if s not in example.old], [s for s in example.old if s not in example.new]
    words = "; ".join(f"`{text}`" for text in come) or "without " + "; ".join(f"`{text}`" for text in gone)
    return f"{example.base}: {words}"
