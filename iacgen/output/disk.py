"""Paths of a tree on disk: which are fit, what stands there, how one file is replaced whole."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

_SEPARATORS = re.compile(r"[\\:]")  # backslash and colon: other systems read them as separators
_TEMPORARY = ".iacgen-new"
LARGEST = 1 << 30  # bytes of a file that may be ours: 1.6 million cables, those of 65,535 nodes with eight rails, take some 200 MB


class OutputError(Exception):
    """What stands in the folder, or shall stand there, does not allow the work. The message is for the user."""


class InvalidPath(OutputError):
    """A path that may not stand in a tree."""


class BlockedPath(OutputError):
    """A symbolic link or another file stands where a folder or file of the tree belongs."""


def checked(path: str) -> str:
    """``path`` if it is relative, normal and portable. Raises InvalidPath."""
    parts = path.split("/")
    if not path.isprintable() or _SEPARATORS.search(path) or any(part in ("", ".", "..") for part in parts):
        raise InvalidPath(f"{path!r} is no relative path of plain names")
    if any(len(os.fsencode(part)) + len(_TEMPORARY) + 1 > 255 for part in parts) or parts[-1].endswith(_TEMPORARY):
        raise InvalidPath(f"{path!r} has a name that cannot be written")
    return path


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def executable(path: str) -> bool:
    """Whether a file of the tree shall carry the executable bit."""
    return path.endswith(".sh")


def is_executable(folder: Path, path: str) -> bool:
    """Whether the file on disk carries it for its owner."""
    return bool((folder / path).lstat().st_mode & stat.S_IXUSR)


def content(folder: Path, path: str, most: int = LARGEST) -> bytes | None:
    """The bytes of a file of the tree, None where nothing stands.

    Raises BlockedPath when it or a folder above it, up to ``folder`` itself, is a symbolic link or of the wrong kind, and when it has
    more than ``most`` bytes: what stands there is nobody's business, and is not read.
    """
    file = _standing(folder, path, most)
    return file and file.read_bytes()


def digest(folder: Path, path: str) -> str | None:
    """The SHA-256 of a file of the tree, read in pieces; None where nothing stands. Raises BlockedPath as :func:`content` does."""
    file = _standing(folder, path, LARGEST)
    if file is None:
        return None
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _standing(folder: Path, path: str, most: int) -> Path | None:
    parts = path.split("/")
    for depth in range(len(parts)):
        kind = kind_of(folder.joinpath(*parts[:depth]))
        if kind is None:
            return None
        if kind != "folder":
            raise BlockedPath(f"{'/'.join(parts[:depth]) or folder.name} is a {kind}, not a folder")
    kind = kind_of(folder / path)
    if kind is None:
        return None
    if kind != "file":
        raise BlockedPath(f"{path} is a {kind}, not a file")
    size = (folder / path).lstat().st_size
    if size > most:
        raise BlockedPath(f"{path} has {size:,} bytes, more than a file of iacgen can have")
    return folder / path


def replace(folder: Path, path: str, text: bytes) -> None:
    """Put ``text`` at ``path`` in one step: a reader sees the old file or the new one, whole.

    Its mode is what the umask leaves of 0777 for a ``.sh`` file and of 0666 for any other.
    """
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_of(target)
    temporary.unlink(missing_ok=True)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o777 if executable(path) else 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def temporary_of(target: Path) -> Path:
    """Where a file lies until it takes its place; always the same, so that what a killed run leaves is found."""
    return target.with_name(f".{target.name}{_TEMPORARY}")


def remove(folder: Path, path: str) -> None:
    """Delete a file, if it is there, and the folders above it that are then empty."""
    (folder / path).unlink(missing_ok=True)
    for parent in Path(path).parents[:-1]:
        try:
            (folder / parent).rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return


def remove_empty(folder: Path) -> None:
    """Delete a folder that holds nothing but empty folders; OSError when it holds more."""
    for below, _, _ in os.walk(folder, topdown=False):
        os.rmdir(below)


def kind_of(path: Path) -> str | None:
    """``file``, ``folder``, ``symbolic link`` (not followed) or ``special file``; None where nothing stands."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    kinds = ((stat.S_ISLNK, "symbolic link"), (stat.S_ISDIR, "folder"), (stat.S_ISREG, "file"))
    return next((name for test, name in kinds if test(mode)), "special file")
