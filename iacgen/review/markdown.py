"""A review as Markdown for a comment on a pull request: the verdict first, then what breaks, then the figures, the files last and folded.

Nothing that a blueprint says becomes markup, a link or a call of somebody's name. What does not fit is counted, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics.markdown import LIMIT, cell
from .build import Review
from .model import Consequence, Effect, Path
from .words import consequence_rows, file_rows, finding_rows, headline

_SHARE = 0.6  # of the limit that the tables may take before they are cut; the rest is for files


def render(reviews: Sequence[Review], limit: int = LIMIT) -> str:
    """One section a blueprint, the worst first, each with an equal part of what is left of ``limit`` characters (at least a few hundred)."""
    if not reviews:
        return "**No change**: no blueprint differs.\n"
    out, worst = "", max(reviews, key=lambda r: r.verdict).verdict
    if len(reviews) > 1:
        out = f"{len(reviews):,} blueprints differ; the worst of it: **{worst.words}**.\n\n"
    for i, review in enumerate(sorted(reviews, key=lambda r: (-r.verdict, r.name))):
        left = len(reviews) - i
        rest = f"{left:,} more blueprint{'s are' if left > 1 else ' is'} not shown: the text would be too long.\n"
        room = (limit - len(out) - len(rest)) // left
        text = next((text for text in (_section(review, room - 1), _short(review)) if len(text) < room), None)
        if text is None:
            return out + rest
        out += text + "\n"
    return out


def _short(review: Review) -> str:
    """A review in two lines, for where there is no room for more."""
    return f"## {cell(review.name[-100:])}: {review.verdict.words if review.changed else 'no change'}\n\n{headline(review)} The rest is not shown: the text would be too long.\n"


def _section(review: Review, limit: int) -> str:
    out = f"## {cell(review.name)}: {review.verdict.words if review.changed else 'no change'}\n\n{headline(review)}\n"
    if not review.changed:
        return out
    most = int(limit * _SHARE)
    tables = [
        ("What it does", ("", "Where", "Old → new", "Consequence", "What to do"), [_row(c) for c in consequence_rows(review)], 0),
        ("Before and after", ("", "Before", "After", "Change"), [tuple(cell(x) for x in (f.label, f.old_text, f.new_text, f.change_text)) for f in review.figures if f.old_text != f.new_text], 3),
        ("Findings", ("", "Finding", "Where", "Says"), [tuple(cell(x) for x in row) for row in finding_rows(review)], 0),
    ]
    for title, head, rows, right in tables:
        if rows:
            out += _table(title, head, rows, right, most - len(out))
    return out + _files(review, limit - len(out))


def _row(c: Consequence) -> tuple[str, ...]:
    change = " → ".join(code(x) for x in (c.old, c.new) if x is not None) if c.old is not None and c.new is not None else code(c.new) + " is new" if c.new is not None else code(c.old or "") + " goes" if c.old is not None else ""
    return (f"**{c.effect.words}**" if c.effect >= Effect.DRAIN else c.effect.words, code(dotted(c.path)), change, cell(c.reason), cell(c.action))


def dotted(path: Path) -> str:
    """A blueprint path as the user writes it."""
    return ".".join(map(str, path)) or "the whole"


def code(text: str) -> str:
    """A text as code in a table cell: nothing in it is markup. Long ones are cut."""
    text = text if len(text) <= 120 else f"{text[:119]}…"
    return cell(text) if "`" in text or "|" in text or not text.isprintable() or not text.strip() else f"`{text}`"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], right: int, room: int) -> str:
    """The rows that fit, the first of which are the worst, and how many do not."""
    rule = "|" + "|".join([" --- "] * (len(head) - right) + [" ---: "] * right) + "|"
    out = f"\n### {title}\n\n| {' | '.join(head)} |\n{rule}\n"
    for i, row in enumerate(rows):
        line = f"| {' | '.join(row)} |\n"
        rest = f"\n{len(rows) - i:,} more not shown: the text would be too long.\n"
        if len(out) + len(line) + len(rest) > room:
            return out + rest if i else f"\n### {title}\n\n{len(rows):,} rows are not shown: the text would be too long.\n"
        out += line
    return out


def _files(review: Review, room: int) -> str:
    """A folded part for each target, the diffs as long as there is room."""
    rows = file_rows(review)
    if not rows:
        return ""
    out = f"\n### Files\n\n{len(review.files):,} files differ.\n"
    for i, (target, summary, text) in enumerate(rows):
        rest = f"\n{len(rows) - i:,} more targets are not shown: the text would be too long.\n"
        fence = "`" * max(4, _longest(text) + 1)
        block = f"\n<details><summary>{cell(target)}: {cell(summary)}</summary>\n\n{fence}diff\n{text}{fence}\n\n</details>\n"
        if len(out) + len(block) + len(rest) > room:
            block = f"\n* {cell(target)}: {cell(summary)}; not shown, the text would be too long\n"
        if len(out) + len(block) + len(rest) > room:
            return out + rest if len(out) + len(rest) <= room else ""
        out += block
    return out


def _longest(text: str) -> int:
    """The longest run of backticks in a text."""
    longest = run = 0
    for c in text:
        run = run + 1 if c == "`" else 0
        longest = max(longest, run)
    return longest

