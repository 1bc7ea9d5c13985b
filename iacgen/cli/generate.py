"""``iacgen generate``: the whole flow, then the plan of what changes on disk, then the writing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .choices import Profile
from .exit import FINDINGS, cannot
from .read import formerly, print_findings, run_blueprint
from .summary import summary

if TYPE_CHECKING:
    from ..pipeline import Run


def generate(path: Path, over: Sequence[Path], sets: Sequence[str], out: Path, check: bool, force: bool, profile: Profile) -> None:
    """Write ``out/<cluster>``; with ``check`` only compare. Nothing is written when anything is wrong."""
    from ..diagnostics import errors
    from ..output import OutputError, apply, plan
    from ..pipeline import tree

    state = run_blueprint(path, over, sets, profile)
    print_findings(state)
    if errors(state.findings) or state.project is None:
        print(f"{state.document.name}: nothing was written", file=sys.stderr)
        sys.exit(FINDINGS)
    folder = out / state.project.name
    try:
        changes = plan(tree(state), folder)
        cables = _cables(folder, state)
        if not check:
            apply(changes, folder, force=force)
    except OutputError as error:
        cannot(f"nothing was written: {str(error).removeprefix('nothing was written: ')}")
    except OSError as error:
        cannot(f"cannot write {error.filename or folder}: {error.strerror}")
    for line in summary(state.project):
        print(line)
    print()
    if changes.edited and not check:  # only --force comes as far as this with such files
        files = "file that was" if len(changes.edited) == 1 else "files that were"
        print(f"{folder}: {len(changes.edited)} {files} edited by hand overwritten:")
        for edited in changes.edited:
            print(f"  {edited}")
    counts = [(changes.create, "new"), (changes.update, "changed"), (changes.delete, "removed"), (changes.unchanged, "unchanged")]
    print(f"{folder}: " + ", ".join(f"{len(paths)} {word}" for paths, word in counts if paths))
    for line in cables:
        print(line)
    if check and not changes.clean:
        for path_, word in sorted((p, w) for paths, w in [*counts[:3], (changes.edited, "edited by hand")] for p in paths):
            print(f"  {word}: {path_}")
        sys.exit(FINDINGS)


def _cables(folder: Path, state: Run) -> list[str]:
    """What becomes of the cables that the tree in ``folder`` had laid, a line for each fabric where any changes."""
    from ..pipeline import recabled, run

    resolved = folder / ".iacgen/resolved.yaml"
    if not resolved.is_file() or resolved.is_symlink():
        return []
    before = formerly(resolved)
    former = run(before, "resolved.yaml", "lab", room=8)
    if former.design is None:
        return [f"{folder}: the former blueprint does not pass today's checks, so its cables are not compared"]
    fates = recabled(former, state)
    words = ("stay", "move to another port", "go", "new")
    return [f"cables of {name}: " + ", ".join(f"{n:,} {word}" for n, word in zip((f.stay, f.move, f.go, f.new), words, strict=True) if n) for name, f in fates.items()]
