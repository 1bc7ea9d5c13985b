"""``iacgen verify``: one line a judge."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

from .exit import FINDINGS, Format, cannot
from .read import formerly
from .wait import waiting

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..placement.project import Project
    from ..verify.verdict import Verdict

WORDS = {
    "passed": "passed",
    "failed": "FAILED",
    "in-part": "in part: no proof",
    "not-applicable": "not applicable",
    "missing": "not run: missing",
    "other-version": "not run: other version",
    "needs-root": "not run: needs root",
}


def verify(folder: Path, only: list[str], require: bool, format: Format, edited: bool = False) -> None:
    """Exit 1 when a judge refuses the tree, when the tree is not what its blueprint makes, or with ``require`` when a judge that it
    needs did not run or had to leave a part out.

    A tree may come from a stranger, and the programs run what stands in their files: roles, hooks, plug-ins. So they are given
    what iacgen itself makes of the tree's resolved blueprint, once that is seen to equal the files on disk; with ``edited`` they
    are given the files as they are.
    """
    from ..diagnostics import errors
    from ..output import OutputError, apply, plan
    from ..pipeline import run
    from ..pipeline import tree as files_of
    from ..verify import JUDGES

    unknown = [name for name in only if name not in JUDGES]
    if unknown:
        cannot(f"there is no judge {unknown[0]!r}; there are {', '.join(JUDGES)}")
    try:
        resolved = folder / ".iacgen/resolved.yaml"
        if resolved.is_symlink() or resolved.parent.is_symlink() or (resolved.exists() and not resolved.is_file()):
            cannot(f"{folder} is not an output folder of iacgen: a link or no file stands where its own files were")
        raw = formerly(resolved)
    except OSError as error:
        cannot(f"{folder} is not an output folder of iacgen: {error}")
    # Judged as mildly as it may have been when it was written, and larger than its blueprint by all the defaults.
    state = run(raw, str(folder / ".iacgen/resolved.yaml"), "lab", room=8)
    if errors(state.findings) or state.project is None:
        from ..diagnostics.text import render_text

        cannot(f"{folder} was written by another version of iacgen; generate it again\n{render_text(state.findings, state.document)}")
    try:
        made = files_of(state)
        try:
            found = plan(made, folder)
        except OSError as error:
            cannot(f"{error.filename or folder} cannot be read: {error.strerror}")
        other = sorted({*found.create, *found.update, *found.delete, *found.edited, *found.foreign})
        if other and not edited:
            _refuse(folder, other, format)
        with TemporaryDirectory(prefix="iacgen-") as work:
            judged = folder if edited else Path(work) / state.project.name
            if not edited:
                apply(plan(made, judged), judged)
            _judge(judged, state.project, only, require, format, other, _strangers(folder, made), _changed(folder, made, other))
    except OutputError as error:
        cannot(f"{folder} is not an output folder of iacgen: {error}")


def _refuse(folder: Path, other: list[str], format: Format) -> NoReturn:
    """No program was started: the files are not those that the blueprint makes."""
    if format is Format.json:
        print(json.dumps({"verdicts": [], "unread": [], "edited": other, "values": [], "strangers": []}, indent=2))
    else:
        _print_files("not what the blueprint of this tree makes (edited, missing, or of another version of iacgen)", other)
        print(f"no program was started: generate {folder} again, or give --edited to have the programs run what is in these files")
    sys.exit(FINDINGS)


def _strangers(folder: Path, made: Mapping[str, str]) -> list[str]:
    """Files beside those of iacgen; no program is given them. What a program keeps for itself in a hidden folder is left out."""
    paths = (p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
    kept = (p for p in paths if not any(part.startswith(".") for part in p.parts[:-1]))
    return sorted(p.as_posix() for p in kept if p.as_posix() not in made)


def _changed(folder: Path, made: Mapping[str, str], edited: Sequence[str]) -> list[Diagnostic]:
    """Values of edited data files that the blueprint does not make."""
    from ..source import read
    from ..verify.edits import edited_values

    def parse(raw: bytes) -> tuple[Any, frozenset[Any]]:
        document, findings = read(raw, "", room=8)
        if document.data is None:
            raise ValueError(findings[0].message if findings else "it is empty")
        return document.data, document.unread

    return list(edited_values(folder, made, edited, parse)) if edited else []


def _judge(folder: Path, project: Project, only: list[str], require: bool, format: Format, other: list[str], strangers: list[str], changed: list[Diagnostic]) -> NoReturn:
    from ..verify import JUDGES, ask, for_people, unproven, unread

    verdicts: list[Verdict] = []
    for name in only or JUDGES:
        with waiting(f"asking {name} ...") if format is Format.text else nullcontext():
            verdicts.append(ask(name, folder, project))
        if format is Format.text:
            _print(verdicts[-1])
    bad = unproven(verdicts) if require else [v for v in verdicts if v.status == "failed"]
    files = [] if only else unread(folder)
    if format is Format.json:
        values = [_finding(f) for f in changed]
        print(json.dumps({"verdicts": [_data(v) for v in verdicts], "unread": files, "edited": other, "values": values, "strangers": strangers}, indent=2))
    else:
        _print_files("no judge reads", [path for path in files if not for_people(path)])
        _print_files("for people and for iacgen, no judge reads them", [path for path in files if for_people(path)])
        _print_files("not written by iacgen, no judge was given them", strangers)
        _print_files("edited since it was generated", other)
        _print_findings(changed)
        print(_sum(verdicts))
    sys.exit(FINDINGS if bad or (require and other) else 0)


def _print(verdict: Verdict) -> None:
    version = verdict.version or "-"
    print(f"{verdict.judge:<12} {verdict.program:<20} {version:<12} {WORDS[verdict.status]:<24} {verdict.seconds:6.1f} s")
    if verdict.status == "other-version":
        return  # the blueprint declares one version: nothing is wrong, and the line says it
    _print_findings(verdict.findings)


def _print_findings(findings: Sequence[Diagnostic]) -> None:
    for finding in findings:
        print(f"    {finding.severity}[{finding.id}] {finding.slug}: {finding.message}")
        for line in (finding.help or "").splitlines():
            print(f"        {line}")


def _sum(verdicts: Sequence[Verdict]) -> str:
    """The closing line: a judge that had nothing to read counts nowhere."""
    said = Counter(v.status for v in verdicts)
    passed = said["passed"]
    silent = said.total() - passed - said["failed"] - said["in-part"] - said["not-applicable"]
    part = f", {said['in-part']} judged a part" if said["in-part"] else ""
    return f"{passed} {'judge' if passed == 1 else 'judges'} passed{part}, {silent} not run, {said['failed']} failed"


def _print_files(title: str, files: list[str]) -> None:
    if files:
        print(f"{title}:")
        from ..diagnostics.printable import printable

        for path in files:
            print(f"    {printable(path)}")


def _finding(found: Diagnostic) -> dict[str, object]:
    return {"id": found.id, "slug": found.slug, "severity": found.severity, "message": found.message, "help": found.help}


def _data(verdict: Verdict) -> dict[str, object]:
    findings = [_finding(f) for f in verdict.findings]
    return {"judge": verdict.judge, "program": verdict.program, "version": verdict.version, "status": verdict.status, "seconds": round(verdict.seconds, 2), "findings": findings}
