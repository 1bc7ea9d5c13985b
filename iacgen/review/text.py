"""A review for a terminal: plain lines, the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics.printable import printable_lines
from .build import Review
from .words import consequence_rows, finding_rows, headline


def render(reviews: Sequence[Review]) -> str:
    """All reviews, a blank line between two of them."""
    if not reviews:
        return "no change: no blueprint differs\n"
    return "\n".join("".join(f"{line}\n" for part in _lines(review) for line in printable_lines(part)) for review in reviews)


def _lines(review: Review) -> Iterator[str]:
    yield f"{review.name}: {review.verdict.words if review.changed else 'no change'}"
    yield f"  {headline(review)}"
    for c in consequence_rows(review):
        path = ".".join(map(str, c.path)) or "the whole"
        change = f"{c.old} -> {c.new}" if c.old is not None and c.new is not None else f"new: {c.new}" if c.new is not None else f"gone: {c.old}" if c.old is not None else ""
        yield ""
        yield f"  {c.effect.words}: {path}" + (f" ({change})" if change else "")
        yield f"    {c.reason}"
        yield f"    -> {c.action}"
    changed = [f for f in review.figures if f.old_text != f.new_text]
    if changed:
        yield ""
        width = max(len(f.label) for f in changed)
        yield from (f"  {f.label:<{width}}  {f.old_text} -> {f.new_text}" + (f" ({f.change_text})" if f.change_text else "") for f in changed)
    for state, finding, path, message in finding_rows(review):
        yield f"  {state}: {finding} at {path}: {message}"
    if review.files:
        yield ""
        yield f"  {len(review.files):,} files differ: iacgen generate --check lists them"
