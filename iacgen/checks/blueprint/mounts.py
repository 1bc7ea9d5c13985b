"""File systems mounted over each other or over the operating system; Lustre names that are one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from ...blueprint import Blueprint
from ...blueprint.storage import Lustre
from ...diagnostics import Diagnostic

RESERVED = {"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "var"}


def mounts(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC218 reserved-mount, IAC219 overlapping-mounts, IAC220 lustre-name-twice."""
    seen: dict[str, PurePosixPath] = {}
    names: dict[str, str] = {}
    for name, store in blueprint.storage.items():
        if isinstance(store, Lustre):
            fsname = store.fsname or name[:8].rstrip("-")
            if names.setdefault(fsname, name) != name:
                yield Diagnostic("IAC220", "lustre-name-twice", "error", f"both this and storage.{names[fsname]} are called {fsname!r} by Lustre", ("storage", name), on_key=True, help="set fsname")
        if not hasattr(store, "mount"):
            continue
        mount = PurePosixPath(store.mount)
        if mount.parts[1] in RESERVED:
            yield Diagnostic("IAC218", "reserved-mount", "error", f"{mount} would hide a part of the operating system", ("storage", name, "mount"))
        for other, theirs in seen.items():
            if mount == theirs or mount in theirs.parents or theirs in mount.parents:
                yield Diagnostic("IAC219", "overlapping-mounts", "error", f"{mount} and {theirs} of storage.{other} lie in each other", ("storage", name, "mount"))
        seen[name] = mount
