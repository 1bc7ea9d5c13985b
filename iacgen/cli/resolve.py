"""``iacgen resolve``: the effective blueprint, and where each of its values comes from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .choices import Profile
from .exit import FINDINGS, Format
from .read import print_findings, run_blueprint

if TYPE_CHECKING:
    from ..blueprint.origins import Leaf

UNLAID = ("IAC612", "IAC613")  # what was to be laid over the blueprint says nothing about it
SECRETS = ("secret-in-blueprint", "password-argument")  # such a blueprint is refused; its secrets are not printed once more
WIDEST = 60  # column at which the origins stand, unless a line is longer


def resolve(path: Path, over: Sequence[Path], sets: Sequence[str], format: Format, profile: Profile) -> None:
    """Print it; exit 1, with the findings, when it is no blueprint, and after the blueprint when checks find errors in it, or when
    something that was to be laid over it was not, which is told on standard error."""
    from ..blueprint import resolve as written_out
    from ..blueprint.origins import fill, leaves
    from ..design.implied import implied
    from ..diagnostics import errors
    from ..diagnostics.mask import masked_name
    from ..diagnostics.report import gather, without_secrets
    from ..diagnostics.text import render

    state = run_blueprint(path, over, sets, profile)
    unlaid = [f for f in errors(state.findings) if f.id in UNLAID]
    bad = len(errors(state.findings)) - len(unlaid)
    if state.blueprint is None:
        print_findings(state)
        sys.exit(FINDINGS)
    decided = (implied(state.blueprint, state.design) if state.design else {}) | dict(state.decided)
    found = list(leaves(fill(written_out(state.blueprint), decided), state.document, decided))
    if any(f.slug in SECRETS for f in state.findings):
        masked = without_secrets(state.document)
        found = [replace(leaf, value=masked(leaf.value, leaf.path) if isinstance(leaf.value, str) else leaf.value, origin=masked_name(leaf.origin)) for leaf in found]
    if format is Format.json:
        print(json.dumps([{"path": ".".join(map(str, leaf.path)), "value": leaf.value, "origin": leaf.origin} for leaf in found], indent=2, ensure_ascii=False))
    else:
        _print(found)
    if unlaid:
        print(render(gather(unlaid, state.document)), end="\n\n", file=sys.stderr)
        print(f"iacgen: {'this is' if len(unlaid) == 1 else 'these are'} not in the blueprint that is printed", file=sys.stderr)
    if bad:
        print(f"iacgen: check finds {bad} error{'s' * (bad > 1)} in this blueprint", file=sys.stderr)
    if bad or unlaid:
        sys.exit(FINDINGS)


def _print(leaves: Iterable[Leaf]) -> None:
    """YAML that reads back as the same blueprint, with the origins as comments."""
    from ..diagnostics.printable import printable

    rows = list(_rows(leaves))
    width = min(WIDEST, max((len(text) for text, origin in rows if origin), default=0))
    for text, origin in rows:
        print(f"{text:<{width}}  # {printable(origin)}" if origin else text)


def _rows(leaves: Iterable[Leaf]) -> Iterator[tuple[str, str]]:
    """A line for each key, and the origin of the value that stands in it."""
    from ..render.filters import yaml

    above: tuple[Any, ...] = ()
    for leaf in leaves:
        shared = next((i for i, (a, b) in enumerate(zip(above, leaf.path, strict=False)) if a != b), min(len(above), len(leaf.path)))
        head = ""
        for depth in range(shared, len(leaf.path)):
            step = leaf.path[depth]
            indent = "  " * depth
            if depth == len(leaf.path) - 1:
                value = yaml(leaf.value)
                yield (f"{indent}- {value}" if isinstance(step, int) else f"{head or indent}{yaml(step)}: {value}"), leaf.origin
            elif isinstance(step, int):
                head = f"{indent}- "
            else:
                yield f"{head or indent}{yaml(step)}:", ""
                head = ""
        above = leaf.path
