"""Values of data files that somebody edited: most variables of a Terraform root or an inventory are asked about by no program."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .findings import finding

DATA = ("terraform/*/terraform.tfvars.json", "ansible/*/inventory/*.yml", "training/*/ds_config.json")
_MOST_BYTES = 4 << 20
"""What is read of a file: more than the command's parser takes, so that it says that there is too much."""
_MOST = 20
"""Values of one file that are named one by one."""

Place = tuple[str | int, ...]
Parse = Callable[[bytes], tuple[Any, Collection[Place]]]
"""Text → its values, and the places whose text no two readers of YAML take alike; ValueError for what is no YAML."""


def edited_values(folder: Path, made: Mapping[str, str], edited: Collection[str], parse: Parse) -> Iterator[Diagnostic]:
    """A warning for each value of an edited data file that is not what the blueprint makes; comments and order are nobody's value."""
    for name in sorted(edited):
        path = folder / name
        if name not in made or not any(fnmatch(name, pattern) for pattern in DATA) or path.is_symlink() or not path.is_file():
            continue
        try:
            planned, _ = parse(made[name].encode())
            with path.open("rb") as file:
                found, unclear = parse(file.read(_MOST_BYTES))
        except (OSError, ValueError) as error:
            yield _warning(f"{name}: cannot be compared with the blueprint: {error}")
            continue
        said = list(_differences(planned, found, unclear))
        yield from (_warning(f"{name}: {words}") for words in said[:_MOST])
        if len(said) > _MOST:
            yield _warning(f"{name}: {len(said) - _MOST} more values are not those of the blueprint")


def _warning(message: str) -> Diagnostic:
    return finding("edited-value", message, severity="warning")


def _differences(planned: Any, found: Any, unclear: Collection[Place], at: Place = ()) -> Iterator[str]:
    """Each innermost value that differs; lists of different lengths differ as a whole."""
    if isinstance(planned, dict) and isinstance(found, dict):
        for key in [*planned, *(key for key in found if key not in planned)]:
            if key not in found:
                yield f"{_dotted((*at, key))} is missing; the blueprint makes {_shown(planned[key])}"
            elif key not in planned:
                yield f"{_dotted((*at, key))} is {_shown(found[key])}; the blueprint makes no such value"
            else:
                yield from _differences(planned[key], found[key], unclear, (*at, key))
    elif isinstance(planned, list) and isinstance(found, list) and len(planned) == len(found):
        for index, pair in enumerate(zip(planned, found, strict=True)):
            yield from _differences(*pair, unclear, (*at, index))
    elif planned != found or type(planned) is not type(found):
        value = "something that readers of YAML take differently" if at in unclear else _shown(found)
        yield f"{_dotted(at)} is {value}; the blueprint makes {_shown(planned)}"


def _dotted(at: Place) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at).removeprefix(".") or "all of it"


def _shown(value: Any, most: int = 80) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else f"{text[: most - 4]} ..."
