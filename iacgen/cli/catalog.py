"""``iacgen catalog``: list, search, show."""

from __future__ import annotations

import json
import sys

from .exit import FINDINGS, Format


_ONE = {"gpus": "gpu", "tpus": "tpu", "systems": "system", "nics": "nic", "switches": "switch", "cables": "cable", "models": "model", "clouds": "cloud"}


def catalog(words: list[str], format: Format) -> None:
    """All entries, those that match, or one entry with its figures and their sources."""
    from .. import catalog as shelves

    text = " ".join(words)
    exact = [kind for kind in shelves.KINDS if text in shelves.ids(kind)]  # file names alone: no file is read in vain
    found = tuple(getattr(shelves, _ONE[kind])(text) for kind in exact) or shelves.search(text)
    if not found:
        near = shelves.nearest(text)
        print(f"the catalog has nothing on {text!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""), file=sys.stderr)
        sys.exit(FINDINGS)
    if format is Format.json:
        print(json.dumps([entry.model_dump(mode="json", exclude_none=True) for entry in found], indent=2))
        return
    if len(found) > 1:
        width = max(len(entry.id) for entry in found)
        for entry in found:
            print(f"{entry.kind:<8} {entry.id:<{width}}  {entry.name}")
        return
    for key, value in found[0].model_dump(mode="json", exclude_none=True, exclude={"sources", "unknown"}).items():
        print(f"{key:<22} {value if not isinstance(value, dict | list) else json.dumps(value)}")
    for figure, why in found[0].unknown.items():
        print(f"{figure:<22} unknown: {why}")
    for source in found[0].sources:
        print(f"source                 {', '.join(source.figures)}: {source.where}, {source.date}" + (f" ({source.note})" if source.note else ""))
