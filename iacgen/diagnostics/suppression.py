"""Findings that the file itself allows: ``# iacgen: allow <name> -- <reason>``.

At the end of a line the comment covers that line. On a line of its own it covers the next line, and where a key begins there, the
whole block of that key. Warnings and infos can be allowed, and of errors those whose page says so. A comment that allows nothing is a
finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .bounded import bounded
from .kind import Kind
from .model import BlueprintPath, Diagnostic, Severity, Span
from .nearest import closest
from .report import DocumentLike, Suppressed

FORM = "# iacgen: allow <name> -- <reason>"
_HINTS = 20  # spellings that are looked for in one file: it takes milliseconds each
_NEVER = ("IAC65", "IAC109")  # what is said about suppressions, and what stands for findings that were never made


class CommentLike(Protocol):
    """``words`` follow ``iacgen:``; ``covers`` is the line that the comment is about."""

    words: str
    at: Span
    alone: bool
    covers: int


@dataclass
class _Allowance:
    """One name in one comment; ``paths`` are the blocks that begin in the covered line, ``last`` is where they end."""

    kind: Kind
    reason: str
    comment: CommentLike
    paths: tuple[BlueprintPath, ...] = ()
    last: int = 0
    used: bool = False

    def covers(self, finding: Diagnostic, place: Span) -> bool:
        if finding.id != self.kind.id:
            return False
        here = place.name == self.comment.at.name and self.comment.covers <= place.line <= max(self.comment.covers, self.last)
        return here or (finding.at is None and any(finding.path[: len(path)] == path for path in self.paths))


@dataclass(frozen=True)
class Outcome:
    """``findings`` that remain, among them those about the comments, and those that are ``suppressed``."""

    findings: tuple[Diagnostic, ...]
    suppressed: tuple[Suppressed, ...] = ()


@dataclass
class _Judged:
    """Allowances by the id that they allow, and what is wrong with the comments."""

    allowances: dict[str, list[_Allowance]] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)


def suppress(findings: Sequence[Diagnostic], comments: Sequence[CommentLike], document: DocumentLike, kinds: Mapping[str, Kind], profile: str, complete: bool) -> Outcome:
    """What remains of ``findings``. An unused comment is told only of a ``complete`` run, in which all was judged."""
    judged = _Judged()
    by_name = {name: kind for kind in kinds.values() if comments and not kind.id.startswith(_NEVER) for name in (kind.id.lower(), kind.slug)}
    for comment in comments:
        _read(comment, by_name, judged)
    _add_blocks([a for some in judged.allowances.values() for a in some if a.comment.alone], document)
    kept, suppressed = [], []
    for finding in findings:
        covering = [a for a in judged.allowances.get(finding.id, ()) if a.covers(finding, document.place(finding))]
        for allowance in covering:
            if _must_be_mended(finding) and not allowance.used:
                judged.findings.append(_not_allowed(allowance.comment, allowance.kind))
            allowance.used = True
        if covering and not _must_be_mended(finding):
            suppressed.append(Suppressed(finding, covering[0].reason, covering[0].comment.at))
        else:
            kept.append(finding)
    unused = [a for some in judged.allowances.values() for a in some if complete and not a.used and a.kind.under(profile)]
    judged.findings += [_about(a.comment, "IAC654", "unused-suppression", f"nothing to allow here: there is no {a.kind.slug}", "take the comment away", "warning") for a in unused]
    return Outcome((*kept, *bounded(judged.findings)), tuple(suppressed))


def _read(comment: CommentLike, by_name: Mapping[str, Kind], judged: _Judged) -> None:
    """Note what a comment allows, or what is wrong with it. ``by_name`` holds each kind by its id in lower case and by its slug."""
    head, _, reason = comment.words.partition("--")
    verb, *names = re.split(r"[\s,]+", head.strip(" \t,"))
    if verb.lower() != "allow" or not names:
        judged.findings.append(_about(comment, "IAC650", "malformed-suppression", "a comment that speaks to iacgen has one form", f"write {FORM}"))
        return
    if not re.search(r"\w", reason):
        judged.findings.append(_about(comment, "IAC651", "suppression-without-reason", "the comment does not say why", f"write {FORM}"))
        return
    for name in dict.fromkeys(names):
        kind = by_name.get(name.lower())
        if kind is None:
            near = closest(name, by_name) if len(judged.findings) < _HINTS else None
            help = f"did you mean {near!r}?" if near else "the name or id of the finding stands behind its severity"
            judged.findings.append(_about(comment, "IAC652", "unknown-suppression", f"no finding that can be allowed is called {name[:80]!r}", help))
        elif kind.always_error:
            judged.findings.append(_not_allowed(comment, kind))
        else:
            judged.allowances.setdefault(kind.id, []).append(_Allowance(kind, reason.strip(), comment))


def _must_be_mended(finding: Diagnostic) -> bool:
    return finding.severity == "error" and not finding.allowable


def _not_allowed(comment: CommentLike, kind: Kind) -> Diagnostic:
    return _about(comment, "IAC653", "allowed-error", f"{kind.slug} is an error; warnings and infos can be allowed, errors must be mended", f"iacgen explain {kind.id} says how")


def _about(comment: CommentLike, id: str, slug: str, message: str, help: str, severity: Severity = "error") -> Diagnostic:
    return Diagnostic(id, slug, severity, message, help=help, at=comment.at)


def _add_blocks(allowances: Iterable[_Allowance], document: DocumentLike) -> None:
    """Find the outermost keys, or items of a list, that begin in the covered lines, and how far down their blocks reach.

    Of a key that stands in several files only that block counts which begins below the comment, up to its last line.
    """
    wanted: dict[tuple[str, int], list[_Allowance]] = {}
    for a in allowances:
        wanted.setdefault((a.comment.at.name, a.comment.covers), []).append(a)
    if not wanted:
        return
    items = [(path, span) for path, span in document.values.items() if path and isinstance(path[-1], int)]
    begins: dict[tuple[str, int], tuple[int, dict[BlueprintPath, bool]]] = {}
    for (path, span), whole in [*((own, True) for own in (*document.keys.items(), *items)), *((other, False) for other in document.shadowed)]:
        line = (span.name, span.line)
        if line in wanted:
            column, paths = begins.get(line, (span.column, {}))
            if span.column <= column:
                begins[line] = (span.column, {**(paths if span.column == column else {}), path: whole})
    reach = _reach({(name, path) for (name, _), (_, paths) in begins.items() for path in paths}, document)
    for line, (_, paths) in begins.items():
        for a in wanted[line]:
            a.paths, a.last = tuple(path for path, whole in paths.items() if whole), max(reach[line[0], path] for path in paths)


def _reach(blocks: set[tuple[str, BlueprintPath]], document: DocumentLike) -> dict[tuple[str, BlueprintPath], int]:
    """The last line in which something of each block begins."""
    lengths = sorted({len(path) for _, path in blocks})
    last = dict.fromkeys(blocks, 0)
    for path, span in [*document.values.items(), *document.keys.items()]:
        for length in lengths:
            block = (span.name, path[:length])
            if length <= len(path) and block in last:
                last[block] = max(last[block], span.line)
    return last
