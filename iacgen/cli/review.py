"""``iacgen review``: what a change of a blueprint does to the cluster that runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .choices import Profile, ReviewFormat, Verdict
from .exit import CLEAN, FINDINGS, cannot
from .sides import Text, pairs

if TYPE_CHECKING:
    from ..pipeline import Run
    from ..review import Review


def review(old: str, new: str, format: ReviewFormat, profile: Profile, fail_on: Verdict | None, output: Path | None) -> None:
    """Print the review, or write it to a new file; exit 1 when the verdict is as bad as ``fail_on``, 2 when a side cannot be read."""
    from ..pipeline import reviewed

    reviews = [reviewed(name, _run(before, profile), _run(after, profile)) for name, before, after in pairs(old, new)]
    reviews = [r for r in reviews if r.changed] if len(reviews) > 1 else reviews
    text = _printed(reviews, format)
    if output is None:
        print(text, end="" if text.endswith("\n") else "\n")
    else:
        _write(output, text)
    if fail_on and any(r.verdict >= _effect(fail_on) for r in reviews):
        sys.exit(FINDINGS)
    sys.exit(CLEAN)


def _effect(word: Verdict) -> int:
    from ..review import Effect

    return Effect[word.value.upper()]


def _run(text: Text | None, profile: Profile) -> Run | None:
    from ..pipeline import run

    return text and run(text.raw, text.name, profile.value, room=text.room)


def _printed(reviews: Sequence[Review], format: ReviewFormat) -> str:
    from ..review import json, markdown, text

    printer = {ReviewFormat.text: text, ReviewFormat.markdown: markdown, ReviewFormat.json: json}[format]
    return printer.render(reviews)


def _write(file: Path, text: str) -> None:
    from ..output import OutputError, create

    try:
        create(file, text if text.endswith("\n") else f"{text}\n")
    except OutputError as error:
        cannot(str(error))
    except OSError as error:
        cannot(f"cannot write {file}: {error.strerror}")
