"""Files that no program is asked about, because they are no text that can be read: a tree may have been edited by anything."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from iacgen.diagnostics.model import Diagnostic

from ..output.disk import LARGEST
from .findings import finding

# What programs keep for themselves in a tree; no judge copies it.
_KEPT = (".terraform*", ".ansible", ".cache")
# Their readers end a line at a carriage return; bash, Slurm and NCCL take it for text, and a file of such lines alone for one comment.
_ANY_LINE_END = (".json", ".yml")


def unreadable(tree: Path, texts: Sequence[str], copied: Sequence[str] = ()) -> Iterator[Diagnostic]:
    """A finding for each file below ``tree`` that its judge could not read.

    ``texts`` are patterns of files that must be UTF-8 text with lines as iacgen ends them, ``copied`` of those that are only copied, so that a link, which may lead
    out of the tree, or a pipe, which never ends, is the only fault. In both ``*`` stands for folders, too.
    """
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if any(fnmatch(part, kept) for part in name.split("/") for kept in _KEPT):
            continue
        text = any(fnmatch(name, pattern) for pattern in texts)
        if (text or any(fnmatch(name, pattern) for pattern in copied)) and (fault := _fault(path, text)):
            yield finding("unreadable-file", f"{name} {fault}")


def _fault(path: Path, text: bool) -> str:
    """What keeps a program from reading the file; empty where nothing does."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            return "is a folder" if text else ""
        if not stat.S_ISREG(mode):
            return "is a symbolic link" if stat.S_ISLNK(mode) else "is a special file"
        if text and path.lstat().st_size > LARGEST:
            return f"has {path.lstat().st_size:,} bytes, more than a file of iacgen can have"
        with path.open("rb") as file:
            raw = file.read() if text else file.read(1)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    try:
        raw.decode("utf-8") if text else None
    except UnicodeDecodeError as error:
        return f"is no UTF-8 text: byte {error.start + 1} is 0x{raw[error.start]:02x}"
    if text and path.suffix not in _ANY_LINE_END and (at := raw.find(b"\r")) >= 0:
        return f"has lines of another system: byte {at + 1} is a carriage return, which its reader takes for text"
    return ""
