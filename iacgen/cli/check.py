"""``iacgen check``: findings only, of one blueprint or many."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .choices import FailOn, FindingFormat, Profile
from .exit import CANNOT, CLEAN, FINDINGS, cannot
from .read import colors, contents

if TYPE_CHECKING:
    from ..diagnostics.report import Report
    from ..diagnostics.selection import Selection
    from ..pipeline import Run


def check(
    paths: list[Path], over: Sequence[Path], sets: Sequence[str], format: FindingFormat, profile: Profile, select: list[str], ignore: list[str], fail_on: FailOn | None
) -> None:
    """Print what is wrong with each file, under what is laid over it; exit 1 on findings as bad as ``fail_on``, 2 when a file cannot be
    read."""
    from ..diagnostics.printable import printable
    from ..diagnostics.selection import FAIL_ON
    from ..pipeline import run

    shown = _selection(select, ignore) if select or ignore else None
    reports: list[Report] = []
    layers, unread = _read(over)
    files, missing = _read([] if unread else dict.fromkeys(paths))
    unread += missing
    for raw, name in files:
        reports.append(_report(run(raw, name, profile.value, layers, sets), shown))
        if format in (FindingFormat.text, FindingFormat.concise):
            _print_one(reports[-1], format)
    _print_all(reports, format, profile, unread)
    for name, why in unread:
        print(f"iacgen: cannot read {printable(name)}: {why}", file=sys.stderr)
    worst = FAIL_ON[fail_on.value if fail_on else "never" if format is FindingFormat.sarif else "error"]
    failed = any(e.finding.severity in worst for r in reports for e in r.entries)
    sys.exit(CANNOT if unread else FINDINGS if failed else CLEAN)


def _read(paths: Iterable[Path]) -> tuple[list[tuple[bytes, str]], list[tuple[str, str]]]:
    """Bytes and name of each file; name and reason of each that cannot be read."""
    read, unread = [], []
    for path in paths:
        try:
            read.append(contents(path))
        except OSError as error:
            unread.append((str(path), error.strerror or "unreadable"))
    return read, unread


def _selection(select: list[str], ignore: list[str]) -> Selection:
    from ..diagnostics.selection import UnknownName, selection
    from ..explain import kinds

    try:
        return selection(select, ignore, kinds())
    except UnknownName as error:
        cannot(str(error))


def _report(state: Run, shown: Selection | None) -> Report:
    from ..diagnostics.report import gather

    findings = [f for f in state.findings if not shown or shown.has(f)]
    suppressed = [s for s in state.suppressed if not shown or shown.has(s.finding)]
    return gather(findings, state.document, suppressed, len(state.findings) - len(findings))


def _print_one(report: Report, format: FindingFormat) -> None:
    """A file's findings as soon as they are known, and a line that counts them."""
    from ..diagnostics import concise, text
    from ..diagnostics.printable import printable
    from ..diagnostics.report import summary

    found = concise.render(report) if format is FindingFormat.concise else text.render(report, colors())
    if found:
        print(found, end="\n\n" if format is FindingFormat.text else "\n")
    print(f"{printable(report.name)}: {summary(report)}")


def _print_all(reports: Sequence[Report], format: FindingFormat, profile: Profile, unread: Sequence[tuple[str, str]]) -> None:
    """What is printed once for all files."""
    from ..diagnostics.report import summary

    if format is FindingFormat.json:
        from ..diagnostics import json

        print(json.render(reports, profile.value))
    elif format is FindingFormat.sarif:
        from .. import __version__
        from ..diagnostics import sarif
        from ..explain import kinds

        print(sarif.render(reports, kinds(), __version__, unread))
    elif format is FindingFormat.markdown:
        from ..diagnostics import markdown

        print(markdown.render(reports), end="")
    elif format is FindingFormat.github:
        from ..diagnostics import github

        counts = f"iacgen: {summary(*reports)} in {len(reports)} file{'s' * (len(reports) != 1)}"
        print(*filter(None, [github.render(reports), counts]), sep="\n")
    elif len(reports) > 1:
        print(f"{len(reports):,} files: {summary(*reports)}")
