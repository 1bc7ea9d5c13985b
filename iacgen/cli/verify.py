"""``iacgen verify``: one line a judge."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from .exit import FINDINGS, Format, cannot
from .wait import waiting

if TYPE_CHECKING:
    from ..verify.verdict import Verdict

WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "not-applicable": "not applicable",
    "missing": "not run: missing",
    "other-version": "not run: other version",
    "needs-root": "not run: needs root",
}


def verify(folder: Path, only: list[str], require: bool, format: Format) -> None:
    """Exit 1 when a judge refuses the tree; with ``require`` also when one that it needs did not run, or a file is not what was generated."""
    from ..diagnostics import errors
    from ..output import OutputError, drift
    from ..pipeline import run
    from ..verify import JUDGES, ask, for_people, unproven, unread

    unknown = [name for name in only if name not in JUDGES]
    if unknown:
        cannot(f"there is no judge {unknown[0]!r}; there are {', '.join(JUDGES)}")
    try:
        edited = drift(folder)
        raw = (folder / ".iacgen/resolved.yaml").read_bytes()
    except (OSError, OutputError) as error:
        cannot(f"{folder} is not an output folder of iacgen: {error}")
    # Judged as mildly as it may have been when it was written, and larger than its blueprint by all the defaults.
    state = run(raw, str(folder / ".iacgen/resolved.yaml"), "lab", room=8)
    if errors(state.findings) or state.project is None:
        from ..diagnostics.text import render_text

        cannot(f"{folder} was written by another version of iacgen; generate it again\n{render_text(state.findings, state.document)}")
    verdicts: list[Verdict] = []
    for name in only or JUDGES:
        with waiting(f"asking {name} ...") if format is Format.text else nullcontext():
            verdicts.append(ask(name, folder, state.project))
        if format is Format.text:
            _print(verdicts[-1])
    bad = unproven(verdicts) if require else [v for v in verdicts if v.status == "failed"]
    files = [] if only else unread(folder)
    if format is Format.json:
        print(json.dumps({"verdicts": [_data(v) for v in verdicts], "unread": files, "edited": edited}, indent=2))
    else:
        _print_files("no judge reads", [path for path in files if not for_people(path)])
        _print_files("for people and for iacgen, no judge reads them", [path for path in files if for_people(path)])
        _print_files("edited or gone since it was generated", edited)
        print(_sum(verdicts))
    # What was judged is then another tree than the one that the blueprint makes.
    sys.exit(FINDINGS if bad or (require and edited) else 0)


def _print(verdict: Verdict) -> None:
    version = verdict.version or "-"
    print(f"{verdict.judge:<12} {verdict.program:<20} {version:<12} {WORDS[verdict.status]:<24} {verdict.seconds:6.1f} s")
    if verdict.status == "other-version":
        return  # the blueprint declares one version: nothing is wrong, and the line says it
    for finding in verdict.findings:
        print(f"    {finding.severity}[{finding.id}] {finding.slug}: {finding.message}")
        for line in (finding.help or "").splitlines():
            print(f"        {line}")


def _sum(verdicts: Sequence[Verdict]) -> str:
    """The closing line: a judge that had nothing to read counts nowhere."""
    said = Counter(v.status for v in verdicts)
    passed = said["passed"]
    silent = said.total() - passed - said["failed"] - said["not-applicable"]
    return f"{passed} {'judge' if passed == 1 else 'judges'} passed, {silent} not run, {said['failed']} failed"


def _print_files(title: str, files: list[str]) -> None:
    if files:
        print(f"{title}:")
        for path in files:
            print(f"    {path}")


def _data(verdict: Verdict) -> dict[str, object]:
    findings = [{"id": f.id, "slug": f.slug, "severity": f.severity, "message": f.message, "help": f.help} for f in verdict.findings]
    return {"judge": verdict.judge, "program": verdict.program, "version": verdict.version, "status": verdict.status, "seconds": round(verdict.seconds, 2), "findings": findings}
