"""A generated shell script held against the steps that it must take. It is read, never run: a tree may be a stranger's.

Rules that look for one wrong word let everything else through, and a shell can do anything. So a script is reduced to its
statements, without comments, blank lines, indentation and the words of ``die``, ``hold`` and ``bad``, which only people read; and these must be the planned
steps, all of them, in their order, and nothing else. That the steps do what they should is tested beside the templates, where
scripts are run.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHEBANG = "#!/bin/bash"
# The words of a message: plain expansions of variables and of numbers, nothing that could run.
_SAYS = re.compile(r'\b(die|hold|bad) "(?:[^"`$\\]|\$\w+|\$\*|\$\(\([a-z_ *]+\)\))*"(?: \$\w+)?')


@dataclass(frozen=True)
class Step:
    """One statement as :func:`statements` gives it, and what goes wrong without it."""

    text: str
    why: str


def steps(block: str, why: str) -> tuple[Step, ...]:
    """The statements of ``block``, all for the same reason."""
    return tuple(Step(text, why) for _, text in statements(block))


def statements(text: str, directive: str = "") -> list[tuple[int, str]]:
    """(number of the first line, statement) for each line that a shell would act on; continued lines are one.

    A comment that begins with ``directive`` is for another reader, and counts.
    """
    out: list[tuple[int, str]] = []
    pending, first = "", 0
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip(" \t")
        if not pending and directive and line.startswith(directive):
            out.append((number, line))
            continue
        if not pending and (not line or line.startswith("#")):
            continue
        first = first or number
        pending = f"{pending} {line}" if pending else line
        if pending.endswith("\\"):
            pending = pending[:-1].rstrip(" \t")
            continue
        out.append((first, _SAYS.sub(r"\1", pending)))
        pending, first = "", 0
    return [*out, (first, f"{pending} \\")] if pending else out


def differences(text: str, planned: Sequence[Step], directive: str = "") -> Iterator[str]:
    """In words, each statement that is planned and missing, or there and not planned; ``directive`` as in :func:`statements`."""
    if not text.startswith(f"{SHEBANG}\n"):
        yield f"line 1: {text.partition(chr(10))[0]!r} where {SHEBANG} is planned"
    found = statements(text, directive)
    matcher = difflib.SequenceMatcher(None, [step.text for step in planned], [words for _, words in found], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        for step in planned[a:b]:
            yield f"lacks, in its place, `{step.text}`: {step.why}"
        for number, words in found[c:d]:
            yield f"line {number}: `{words}` is no planned step"
