"""The whole review: what differs between two sides, put together and brought into order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ..diagnostics import Diagnostic, errors
from .changes import changes
from .figures import Figure, figures
from .files import FileChange, files
from .findings import gone_findings, new_findings
from .model import Change, Consequence, Effect, Path, Side
from .policy import consequence

Said = Callable[[str, Path], str]
_GONE = "Nothing manages what this blueprint built any more, and a folder that nobody regenerates is applied by mistake."


@dataclass(frozen=True)
class Review:
    """What a reviewer reads; a side is None where there is no such blueprint."""

    name: str
    old: Side | None
    new: Side | None
    changes: tuple[Change, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    figures: tuple[Figure, ...] = ()
    appeared: tuple[Diagnostic, ...] = ()
    gone: tuple[Diagnostic, ...] = ()
    files: tuple[FileChange, ...] = ()

    @property
    def verdict(self) -> Effect:
        """The worst that any of it does."""
        return max((c.effect for c in self.consequences), default=Effect.NOTHING)

    @property
    def changed(self) -> bool:
        """Whether anything differs: the effective blueprint, a file or a finding."""
        return self.old is None or self.new is None or bool(self.changes or self.files or self.appeared or self.gone)


def review(name: str, old: Side | None, new: Side | None, said: Said) -> Review:
    """The review of one blueprint; ``said`` takes what is secret out of a text about a path."""
    if new is None:
        lost = Consequence(Effect.STOP, (), name, None, _GONE, "Empty what it built by hand, data last: terraform destroy in its roots, or the end of the cluster's life on the floor.")
        return Review(name, old, new, consequences=(lost,) if old else ())
    if old is None:
        return Review(name, old, new, consequences=tuple(_refusals(new)), appeared=new.findings)
    found = changes(old.blueprint, new.blueprint) if old.blueprint and new.blueprint else ()
    consequences = tuple(_masked(consequence(change, old, new), said) for change in found)
    appeared = new_findings(old, new)
    whole = bool(old.project and new.project)
    return Review(
        name,
        old,
        new,
        tuple(replace(c, old=_plain(c.old, c.path, said), new=_plain(c.new, c.path, said)) for c in found),
        (*_refusals(new), *consequences),
        figures(old, new) if old.design and new.design else (),
        appeared,
        gone_findings(old, new),
        files(old.tree, new.tree) if whole else (),
    )


def _refusals(new: Side) -> Iterator[Consequence]:
    """What ``generate`` refuses cannot be built at all."""
    for f in errors(new.findings):
        yield Consequence(Effect.IMPOSSIBLE, f.path, None, None, f"{f.id} {f.slug}: {f.message}", f.help or f"generate refuses this blueprint; {f.link} says why.", "check")


def _masked(found: Consequence, said: Said) -> Consequence:
    old, new = (text if text is None else said(text, found.path) for text in (found.old, found.new))
    return replace(found, old=old, new=new)


def _plain(value: object, path: Path, said: Said) -> object:
    """Plain data without what is secret in it."""
    if isinstance(value, str):
        return said(value, path)
    if isinstance(value, dict):
        return {key: _plain(inner, (*path, key), said) for key, inner in value.items()}
    return [_plain(inner, (*path, i), said) for i, inner in enumerate(value)] if isinstance(value, list | tuple) else value
