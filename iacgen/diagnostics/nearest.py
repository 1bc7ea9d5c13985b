"""The nearest spelling among the names that exist: the one place that says what near is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import accumulate

_LONGEST = 80  # characters of a word that are looked at
_LOOKED_AT = 16  # names that are alike enough for their distance to be measured


def closest(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The one name of ``known`` that ``word`` was most likely meant to be; ``likeness`` is between 0 and 1."""
    return next(iter(near(word, known, likeness)), None)


def near(word: str, known: Iterable[str], likeness: float = 0.6) -> tuple[str, ...]:
    """The names that ``word`` may have been meant to be, nearest first; capitals do not count.

    Which names are alike at all is the share of letters that they have in common. Of those the ones count that a few slips of the typing
    hand make of each other, or of which one is a part of the other or shortens it; the one with the fewest slips comes first. A name
    that ``word`` only says more of (``power_kw``) is near as well. Dashes and underscores are the same here.
    """
    names = {_plain(name): name for name in known}
    wanted = _plain(word[:_LONGEST])
    alike = dict.fromkeys(difflib.get_close_matches(wanted, names, n=_LOOKED_AT, cutoff=likeness))
    alike |= dict.fromkeys([begin for begin in accumulate(wanted.split("-"), lambda a, b: f"{a}-{b}") if begin in names])
    slips = {name: distance(wanted, name) for name in alike}
    return tuple(names[name] for name in sorted(slips, key=slips.__getitem__) if slips[name] <= max(1, max(len(wanted), len(name)) // 3) or _shortens(*sorted((wanted, name), key=len)))


def _plain(word: str) -> str:
    return word.lower().replace("_", "-")


def _shortens(short: str, long: str) -> bool:
    """Whether ``short`` stands in ``long``, or has its first letter and others of it in their order, as ``ctl`` of ``control``."""
    rest = iter(long)
    return short in long or (short[:1] == long[:1] and all(letter in rest for letter in short))


def distance(a: str, b: str) -> int:
    """Letters that are missing, too many or wrong, and neighbours that changed places, each counted once.

    Source: the optimal string alignment form of F. J. Damerau, "A technique for computer detection and correction of spelling errors",
    Communications of the ACM 7 (3), 1964: four such slips made over 80 % of the misspellings there.
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, above, row = row, before, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
            if i > 1 and j > 1 and (x, y) == (b[j - 2], a[i - 2]):
                row[j] = min(row[j], above[j - 2] + 1)
    return row[-1]
