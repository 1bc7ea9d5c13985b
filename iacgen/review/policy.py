"""A change → what it means for a cluster that runs, by the first rule of its key that speaks of it."""

from __future__ import annotations

from typing import Any

from .model import Change, Consequence, Side
from .policies import POLICIES
from .rule import Rule, Seen

_LEFT_OUT = "the default"  # a value that is none
_MOST = 60  # letters of a value that a line has room for


def consequence(change: Change, old: Side, new: Side) -> Consequence:
    """What the policy says of one change; both sides have a blueprint, since there is no change otherwise."""
    assert old.blueprint and new.blueprint
    rule = rule_of(Seen(change, old.blueprint, new.blueprint))
    words = {"name": change.path[1] if len(change.path) > 1 else change.path[0], "entry": change.path[-1], "old": short(change.old) or _LEFT_OUT, "new": short(change.new) or _LEFT_OUT}
    return Consequence(rule.effect, change.path, short(change.old), short(change.new), rule.reason.format_map(words), rule.action.format_map(words))


def rule_of(seen: Seen) -> Rule:
    """The first rule whose condition holds; the last one of every key always does."""
    return next(rule for rule in POLICIES[seen.change.section][seen.change.key] if rule.when.holds(seen))


def short(value: Any) -> str | None:
    """A value in a few words; None where there is nothing."""
    if value is None:
        return None
    if isinstance(value, dict):
        text = ", ".join(f"{key}: {short(inner)}" for key, inner in value.items() if not isinstance(inner, dict))
    elif isinstance(value, (list, tuple)):
        text = ", ".join(str(short(inner)) for inner in value)
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


__all__ = ["consequence", "rule_of", "short"]
