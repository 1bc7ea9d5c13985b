"""Our own readers of the four dialects: name → value, and what their real readers would take amiss.

Each reader's rules as measured: libnccl trims nothing and takes ``#`` as a comment in column 0 alone; DeepSpeed's launcher dies
of a comment or blank line and takes ``export X=1`` for the variable ``export X``.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from ..process import run

Values = dict[str, str]

_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
_UNFIT = re.compile(r"[\s\"'#]")  # would become part of the value
_LONGEST_LINE, _LONGEST_VALUE = 4095, 1023  # libnccl's buffers (measured)
# One export of one literal word a line. Anything else is not run.
_EXPORT = re.compile(r"export [A-Z_][A-Z0-9_]*=(?:[\w@%+=:,./-]|'[^']*')*", re.ASCII)
_OF_BASH = {"PATH", "PWD", "OLDPWD", "SHLVL", "_"}


def conf(name: str, text: str) -> tuple[Values, list[Diagnostic]]:
    """A file for libnccl."""
    kept = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line and not line.startswith("#")]
    values, findings = _assignments(name, kept)
    for number, line in kept:
        if len(line.encode()) > _LONGEST_LINE or len(line.partition("=")[2].encode()) > _LONGEST_VALUE:
            findings.append(finding("malformed-environment", f"{name}:{number}: NCCL cuts a value at {_LONGEST_VALUE} characters"))
    return values, findings


def lines(name: str, text: str) -> tuple[Values, list[Diagnostic]]:
    """A file of bare ``NAME=value`` lines, for DeepSpeed's launcher or a container's ``--env-file``."""
    if text and not text.endswith("\n"):
        return {}, [finding("malformed-environment", f"{name} does not end with a line end")]
    return _assignments(name, enumerate(text.split("\n")[:-1], 1))


def shell(name: str, text: str) -> tuple[Values, list[Diagnostic]]:
    """A file to be sourced, read by bash in an empty environment."""
    bad = [number for number, line in enumerate(text.split("\n"), 1) if line and not line.startswith("#") and not _EXPORT.fullmatch(line)]
    if bad:
        return {}, [finding("malformed-environment", f"{name}:{number}: more than one export of one literal word") for number in bad]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "nccl.sh")
        file.write_text(text, encoding="utf-8")
        answer = run(["env", "-i", "PATH=/usr/bin:/bin", "bash", "-euc", '. "$1"; exec env -0', "-", file])
    if not answer.ok or answer.err:
        return {}, [finding("malformed-environment", f"bash does not read {name}: {answer.err.strip()}")]
    pairs = (entry.partition("=") for entry in answer.out.split("\0") if entry)
    return {key: value for key, _, value in pairs if key not in _OF_BASH}, []


def _assignments(name: str, numbered: Iterable[tuple[int, str]]) -> tuple[Values, list[Diagnostic]]:
    values: Values = {}
    findings: list[Diagnostic] = []
    for number, line in numbered:
        key, sign, value = line.partition("=")
        why = None
        if not sign:
            why = f"no assignment: {line!r}"
        elif not _NAME.fullmatch(key):
            why = f"defines {key!r}, a name that nobody reads"
        elif not value or _UNFIT.search(value):
            why = f"the value of {key} is {value!r}; blanks, quotes and # stay in it"
        elif key in values:
            why = f"{key} a second time; the first value wins"
        if why:
            findings.append(finding("malformed-environment", f"{name}:{number}: {why}"))
        else:
            values[key] = value
    return values, findings
