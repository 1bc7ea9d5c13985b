"""Text of an untrusted file as one line that no terminal obeys."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` with a replacement character for each control, format or other character that is not shown as itself."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def printable_lines(text: str) -> list[str]:
    """The lines of a text that may have several, each of them printable; none is a command to a CI that reads the output.

    GitHub's runner takes a line for a command that begins, behind blanks, with ``::`` or ``##[``: such a line gets a bar before it.
    """
    return [f"| {line}" if line.lstrip().startswith(("::", "##[")) else line for line in map(printable, text.split("\n"))]
