"""``.iacgen/manifest.json``: which files of a folder are ours, and what we wrote into them.

It maps each path to the SHA-256 of its content and holds nothing that changes by itself, so that it can be committed. While a
tree is being written it also holds, under ``pending``, what the files will be: after an interrupted run a file may have either
content and is still ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .disk import InvalidPath, OutputError, checked, content, replace, sha256

PATH = ".iacgen/manifest.json"
_SCHEMA = 1
_MOST_BYTES = 64 << 20  # of a manifest: half a million files


class ManifestError(OutputError):
    """A manifest that cannot be read: by hand, by a merge or by a later iacgen it became something else."""


@dataclass(frozen=True)
class Manifest:
    """Path → SHA-256, of the files that stand and of those that an unfinished run was about to write."""

    files: dict[str, str] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self.files) | frozenset(self.pending)

    def wrote(self, path: str, digest: str) -> bool:
        """Whether the content of that digest is one that iacgen put at ``path``."""
        return digest in (self.files.get(path), self.pending.get(path))


def of(tree: Mapping[str, str]) -> Manifest:
    """The manifest of a finished tree."""
    return Manifest({path: sha256(text.encode()) for path, text in tree.items()})


def load(folder: Path) -> Manifest | None:
    """The manifest of ``folder``, None where there is none. Raises ManifestError, BlockedPath."""
    raw = content(folder, PATH, _MOST_BYTES)
    if raw is None:
        return None
    try:
        data = json.loads(raw)
        if not isinstance(data, dict) or data.get("schema") != _SCHEMA:
            raise ManifestError(f"{PATH} is not of schema {_SCHEMA}")
        return Manifest(_digests(data.get("files", {})), _digests(data.get("pending", {})))
    except (ValueError, RecursionError, OutputError) as error:
        raise ManifestError(f"{folder.name}/{PATH} cannot be read: {error}") from error


def store(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, in the order of the paths."""
    data: dict[str, object] = {"schema": _SCHEMA, "files": dict(sorted(manifest.files.items()))}
    if manifest.pending:
        data["pending"] = dict(sorted(manifest.pending.items()))
    replace(folder, PATH, (json.dumps(data, indent=2, ensure_ascii=True) + "\n").encode())


def read(folder: Path) -> dict[str, str]:
    """The tree that stands in ``folder``: the files that the manifest names and that exist, as they are now.

    Raises ManifestError, also where there is no manifest, BlockedPath, and UnicodeDecodeError for a file that is no text.
    """
    found = {path: content(folder, path) for path in sorted(_required(folder).paths)}
    return {path: raw.decode() for path, raw in found.items() if raw is not None}


def _required(folder: Path) -> Manifest:
    manifest = load(folder)
    if manifest is None:
        raise ManifestError(f"{folder} holds no {PATH}: no tree was generated there")
    return manifest


def _digests(data: object) -> dict[str, str]:
    """A map of paths to digests. The file is untrusted: a path in it is one that may be deleted."""
    if not isinstance(data, dict):
        raise ManifestError("files is no map")
    for path, digest in data.items():
        if not isinstance(digest, str):
            raise ManifestError(f"{path!r} has no digest")
        if checked(path) == PATH:
            raise InvalidPath(f"{PATH} names itself")
    return data
