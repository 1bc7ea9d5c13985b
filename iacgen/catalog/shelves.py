"""Where the catalog lies and how one thing is taken from it: one YAML file each, read only when asked for.

Pure YAML reading is slow (about 10 ms a file), so listing what exists looks at file names alone.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from iacgen.catalog.cables import Cable
from iacgen.catalog.clouds import Cloud
from iacgen.catalog.entry import Entry
from iacgen.catalog.gpus import Gpu
from iacgen.catalog.models import Model
from iacgen.catalog.nics import Nic
from iacgen.catalog.switches import Switch
from iacgen.catalog.systems import System
from iacgen.catalog.tpus import Tpu
from iacgen.diagnostics.nearest import near

DATA = Path(__file__).parent / "data"
KINDS: dict[str, type[Entry]] = {
    "gpus": Gpu,
    "tpus": Tpu,
    "systems": System,
    "nics": Nic,
    "switches": Switch,
    "cables": Cable,
    "models": Model,
    "clouds": Cloud,
}


class UnknownEntry(LookupError):
    """The catalog has no such thing. ``kind`` is the shelf ("gpus"), ``suggestions`` the nearest ids, best first."""

    def __init__(self, kind: str, id: str, suggestions: tuple[str, ...]) -> None:
        self.kind, self.id, self.suggestions = kind, id, suggestions
        hint = f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""
        super().__init__(f"the catalog has no {id!r} among its {kind}{hint}")


class BrokenEntry(ValueError):
    """A catalog file that cannot be read or does not hold what its kind needs."""

    def __init__(self, path: Path, why: object) -> None:
        self.path = path
        super().__init__(f"catalog file {path.parent.name}/{path.name}: {why}")


@cache
def ids(kind: str) -> tuple[str, ...]:
    """Sorted ids on one shelf, from the file names. Raises KeyError for a kind that is none of KINDS."""
    if kind not in KINDS:
        raise KeyError(kind)
    return tuple(sorted(path.name.removesuffix(".yaml") for path in (DATA / kind).glob("*.yaml")))


@cache
def take(kind: str, id: str) -> Entry:
    """The entry of that kind and id. Raises UnknownEntry, or BrokenEntry when the file is at fault."""
    known = ids(kind)
    if id not in known:
        raise UnknownEntry(kind, id, near(id, known)[:3])
    return read(DATA / kind / f"{id}.yaml", KINDS[kind])


def read(path: Path, type_: type[Entry]) -> Entry:
    """One catalog file as a typed entry. Raises BrokenEntry."""
    try:
        entry = type_.model_validate(YAML(typ="safe", pure=True).load(path))
    except (OSError, UnicodeDecodeError, YAMLError, ValidationError) as fault:
        raise BrokenEntry(path, fault) from fault
    if entry.id != path.name.removesuffix(".yaml"):
        raise BrokenEntry(path, f"its id is {entry.id!r}; the file must have the same name")
    return entry
