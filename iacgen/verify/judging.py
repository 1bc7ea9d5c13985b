"""What judges have in common: the declared version of a program or none, one line of JSON from a driver, a verdict with its time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic, errors

from . import programs
from .findings import finding
from .process import run
from .verdict import Status, Verdict

Outcome = tuple[Status, Iterable[Diagnostic], str | None]
"""Status, findings, and the version of the program that ran."""

NOT_APPLICABLE: Outcome = ("not-applicable", (), None)
_DRIVERS = Path(__file__).parent / "drivers"
_MARK = "PROBE "


def timed(judge: str, program: str, asked: Callable[[], Outcome]) -> Verdict:
    """The outcome of ``asked`` as a verdict, with the wall time that it took."""
    began = time.monotonic()
    status, findings, version = asked()
    return Verdict(judge, program, version, status, time.monotonic() - began, tuple(findings))


def declared(judge: str, product: str, version: str, asked: Callable[[programs.Found], list[Diagnostic]]) -> Outcome:
    """What ``asked`` finds with the program of ``judge``, if that is here and of the ``version`` that the blueprint declares."""
    found = programs.find(judge)
    if isinstance(found, programs.Missing):
        return "missing", [finding(f"{judge}-not-judged", str(found))], None
    if found.version != version and not found.version.startswith(f"{version}."):
        why = f"the blueprint declares {product} {version}, and this one is {found.version}"
        return "other-version", [finding(f"{judge}-not-judged", why)], found.version
    findings = asked(found)
    return "failed" if findings else "passed", findings, found.version


def each_site(judge: str, kind: str, here: Sequence[str], design: Any, lost: Callable[[str], Diagnostic], asked: Callable[[programs.Found, str], list[Diagnostic]]) -> Outcome:
    """What ``asked`` finds at the sites that the tree has (``here``), and ``lost`` for each other site of ``kind`` with hosts."""
    planned = {pool.site for pool in design.pools.values() if design.sites[pool.site].kind == kind}
    if not planned and not here:
        return NOT_APPLICABLE
    found = programs.find(judge)
    if isinstance(found, programs.Missing):
        return "missing", [finding(f"{judge}-not-judged", str(found))], None
    findings = [lost(site) for site in sorted(planned - {*here})]
    findings += [f for site in here for f in asked(found, site)]
    return "failed" if errors(findings) else "passed", findings, found.version


def probe(python: Path, driver: str, *words: str, env: Mapping[str, str], timeout: float) -> tuple[Any, str]:
    """What a driver, run by the interpreter that has the program, prints behind PROBE; None when it does not, and all that it says."""
    answer = run([python, "-I", _DRIVERS / driver, *words], env=env, timeout=timeout)
    line = next((line for line in answer.out.splitlines() if line.startswith(_MARK)), None)
    said = answer.err.strip() or answer.out.strip()
    return (json.loads(line.removeprefix(_MARK)) if answer.ok and line else None), said
