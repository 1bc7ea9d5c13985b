"""One page: a sentence, then Why, Bad, Good and Source; as text for a terminal and as Markdown."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from ..diagnostics import Severity

SECTIONS = ("Why", "Bad", "Good", "Source")
_HEADING = re.compile(rf"({'|'.join(SECTIONS)})::?(?: |$)")


class BrokenPage(ValueError):
    """A page that lacks a section, or has one twice or out of order."""


@dataclass(frozen=True)
class Page:
    """What there is to say about one finding.

    ``severities`` are those that it is made with, ``lab`` the same in the lab profile (none: not made there). ``summary`` is one
    sentence. The four sections are paragraphs and, indented by four, literal blocks. ``file`` is where the page lies, below the package;
    ``allowable`` says that a comment may allow it although it is an error.
    """

    id: str
    slug: str
    severities: tuple[Severity, ...]
    lab: tuple[Severity, ...]
    summary: str
    why: str
    bad: str
    good: str
    source: str
    file: str
    allowable: bool = False

    @property
    def severity(self) -> str:
        """In words: ``error``, or ``warning (lab: off)``."""
        words = ", ".join(self.severities) + (", can be allowed" if self.allowable else "")
        return words if self.lab == self.severities else f"{words} (lab: {', '.join(self.lab) or 'off'})"

    def row(self, link: str = "") -> str:
        """One line of a Markdown table: id, slug, severity, summary."""
        id = f"[{self.id}]({link})" if link else self.id
        return f"| {id} | {self.slug} | {self.severity} | {self.summary.replace('|', chr(92) + '|')} |"

    def sections(self) -> Iterator[tuple[str, str]]:
        """(heading, text) in order."""
        yield from ((name, getattr(self, name.lower())) for name in SECTIONS)

    def text(self, width: int = 100) -> str:
        """For a terminal of ``width`` columns; literal blocks keep their lines."""
        out = [f"{self.id} {self.slug}: {self.severity}", "", textwrap.fill(self.summary, width)]
        for heading, body in self.sections():
            blocks = (textwrap.indent(b, "      ") if literal else textwrap.fill(_words(b), width, initial_indent="  ", subsequent_indent="  ") for literal, b in _blocks(body))
            out += ["", heading, "\n\n".join(blocks)]
        return "\n".join(out) + "\n"

    def markdown(self, level: int = 1) -> str:
        """For a page: headings from ``level`` down, literal blocks fenced."""
        out = [f"{'#' * level} {self.id} {self.slug}", f"Severity: {self.severity}.", self.summary]
        for heading, body in self.sections():
            out.append(f"{'#' * (level + 1)} {heading}")
            out += [f"```\n{block}\n```" if literal else _words(block) for literal, block in _blocks(body)]
        return "\n\n".join(out) + "\n"


def read(id: str, slug: str, severities: tuple[Severity, ...], lab: tuple[Severity, ...], text: str, file: str, allowable: bool = False) -> Page:
    """The page that ``text`` holds. Raises BrokenPage."""
    parts: dict[str, list[str]] = {"": []}
    at = ""
    for line in text.strip("\n").split("\n"):
        if heading := _HEADING.match(line):
            at, line = heading[1], line[heading.end() :]
            if at in parts:
                raise BrokenPage(f"{id} {slug} has {at!r} twice")
            parts[at] = []
        parts[at].append(line.rstrip())
    if tuple(parts) != ("", *SECTIONS):
        raise BrokenPage(f"{id} {slug} has {', '.join(filter(None, parts)) or 'no section'}; wanted {', '.join(SECTIONS)}")
    summary, why, bad, good, source = ("\n".join(lines).strip("\n") for lines in parts.values())
    return Page(id, slug, severities, lab, _words(" ".join(summary.split())), *map(_sentence, (why, bad, good)), source, file, allowable)


def _sentence(body: str) -> str:
    """A heading ran into the first word; standing alone below it, the word begins a sentence."""
    return body[:1].upper() + body[1:] if re.match("[a-z]+ ", body) else body


def _blocks(body: str) -> Iterator[tuple[bool, str]]:
    """(is it literal?, block): paragraphs as one line each, and what is indented by four, without the indentation."""
    for literal, chunks in itertools.groupby(re.split(r"\n\n+", body), key=lambda chunk: chunk.startswith("    ")):
        if literal:
            yield True, textwrap.dedent("\n\n".join(chunks))
        else:
            yield from ((False, " ".join(chunk.split())) for chunk in chunks if chunk)


def _words(text: str) -> str:
    return text.replace("``", "`")
