"""A file with findings, as the printers get it."""

from types import SimpleNamespace

import pytest

from iacgen.diagnostics import Diagnostic, Related
from iacgen.diagnostics.kind import Kind
from iacgen.diagnostics.report import Suppressed, gather
from iacgen.source import read

# A tab before the value, and a character outside the basic plane before another one.
TEXT = 'kind: Cluster\nnodes:\n  gpu: {system:\tdgx-h100, count: 127}\n  ctl: {note: "\N{ELECTRIC PLUG}", count: 2}\n  head:\n    count: 1\n'

# What a stranger's blueprint may bring into a message: commands of a CI, markup, names of people, escapes of a terminal.
HOSTILE = [
    "::error::x",
    "##[add-mask]x",
    "a%0A::set-output name=x::y",
    "a\n::warning::b",
    "a\r\n::warning::b",
    "a | b | c",
    "`tick` and ``two``",
    "<img src=x onerror=alert(1)> <!-- --> </td>",
    "[click](https://example.invalid/) ![image](//example.invalid/x.png)",
    "@octocat and @org/team, fixes #1, org/repo#2, GH-3, www.example.invalid",
    "*strong* _emphasis_ ~~gone~~ $x^2$ &amp; \\ \\| end\\",
    "\x1b[31mred\x1b[0m \x9b1A \x07\x08\x7f",
    "\u202eright to left\u2066 \u200b",
    "{0} {{1}} ${x} %s %(x)s",
    "line\u2028separator\x85next",
    "\N{ELECTRIC PLUG} \ud800",
]


def finding(path, message="wrong", severity="error", id="IAC999", slug="thing-found", **more):
    return Diagnostic(id, slug, severity, message, path, **more)


def kind(id, slug="thing-found", severities=("error",)):
    return Kind(id, slug, frozenset(severities), frozenset(severities), f"What {slug} is.", f"{slug}\n\nWhy: because.")


KINDS = {k.id: k for k in (kind("IAC999"), kind("IAC998", "thing-doubted", ("warning",)), kind("IAC997", "thing-told", ("info",)))}

ALL = (
    finding(("nodes", "gpu", "system"), related=(Related(("nodes", "ctl", "count"), "two here"), Related(("nodes", "gpu", "width"), "four digits")), help="write less\nor more"),
    finding(("nodes", "ctl", "count"), "doubtful", "warning", "IAC998", "thing-doubted"),
    finding(("nodes", "head"), "good to know", "info", "IAC997", "thing-told", on_key=True),
)


def report(*findings, text=TEXT, name="lab.yaml", allowed=(), unselected=0):
    """The findings as a report on ``text``; ``allowed`` are allowed by a comment in its first line."""
    document, faults = read(text, name)
    assert not faults
    at = document.span(("kind",), on_key=True)
    return gather(findings, document, [Suppressed(f, "it is a spare", at) for f in allowed], unselected)


def _sample():
    return SimpleNamespace(TEXT=TEXT, HOSTILE=HOSTILE, KINDS=KINDS, ALL=ALL, finding=finding, report=report)


@pytest.fixture
def sample():
    """Functions and values for tests of printers."""
    return _sample()


@pytest.fixture(scope="session")
def sample_once():
    """The same for tests that Hypothesis runs: nothing of it changes."""
    return _sample()
