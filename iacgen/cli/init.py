"""``iacgen init``: a first blueprint, with comments."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .complete import systems
from .exit import cannot

if TYPE_CHECKING:
    from ..pipeline import Run
    from ..starter import Wish


def init(wish: dict[str, object], file: Path | None) -> None:
    """Print the blueprint, or write it where nothing stands yet; leaves with 2 when there is no such cluster."""
    from ..output import OutputError, create
    from ..starter import Impossible, Wish, write

    try:
        text = write(asked := Wish(**wish))  # type: ignore[arg-type]
    except Impossible as error:
        cannot(str(error))
    _prove(text, asked)
    if file is None:
        print(text, end="")
        return
    try:
        create(file, text)
    except OutputError as error:
        cannot(str(error))
    except OSError as error:
        cannot(f"cannot write {file}: {error.strerror}")
    print(f"{file}: written; next: iacgen check {file}", file=sys.stderr)


def proof(text: str) -> Run:
    """The run of a blueprint, which is offered when nothing at all is found, warnings included."""
    from ..pipeline import run

    return run(text.encode(), "init")


def _prove(text: str, wish: Wish) -> None:
    """What is offered has been through the whole flow: no finding, a place for each rank."""
    state = proof(text)
    if not state.findings and state.project:
        return
    why = "; ".join(dict.fromkeys(f.message for f in state.findings))
    unnamed = {f.slug for f in state.findings} == {"unnamed-ports"}
    cannot(f"no clean blueprint of {wish.nodes:,} x {wish.system}: {why}" + (f"; the catalog names all ports of {', '.join(_named())}" if unnamed else ""))


def _named() -> list[str]:
    """Systems that can be had in any count: with storage, as from SMALL nodes on."""
    from .. import catalog
    from ..starter import EXAMPLE, SMALL, Wish, write

    return [id for id in systems("") if not proof(write(Wish(id, SMALL, capacity=EXAMPLE if catalog.system(id).cloud else None))).findings]
