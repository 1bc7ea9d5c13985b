"""Our prediction against the JSON of a plan that somebody made. That JSON comes from outside: nothing of it is taken for granted."""

from __future__ import annotations

from typing import Any

from .engine import Actions, Predicted

_MOST = 100_000  # changes of a plan that are read: a root of 12,288 machines has some 25,000
_LONGEST = 300  # characters of an address that are repeated
_STAYS = {(), ("no-op",), ("read",)}
_ACTIONS = {"no-op", "create", "read", "update", "delete", "forget"}
_WORDS = {("create",): "create", ("update",): "update in place", ("delete",): "delete", ("delete", "create"): "replace", ("create", "delete"): "replace (new one first)", ("forget",): "forget"}


def matched(predicted: Predicted, plan: Any) -> tuple[str, ...]:
    """Where a plan (parsed ``terraform show -json``) and the prediction part, in words; nothing where they agree."""
    changes = plan.get("resource_changes", []) if isinstance(plan, dict) else None
    if not isinstance(changes, list):
        return ("This is not the JSON of a plan: it has no list resource_changes.",)
    planned, odd = _planned(changes)
    said = []
    for address in sorted(predicted.actions.keys() | planned.keys()):
        ours, theirs = predicted.actions.get(address, ()), planned.get(address, ())
        if ours != theirs:
            said.append(_difference(address, ours, theirs))
    if predicted.refused:
        said.append("Terraform was expected to refuse, for it would destroy " + ", ".join(predicted.refused) + "; a plan was made.")
    if len(changes) > _MOST:
        said.append(f"The plan has {len(changes)} changes; the first {_MOST} were read.")
    if odd:
        said.append(f"Entries of the plan that cannot be read: {odd}.")
    return tuple(said)


def _planned(changes: list[Any]) -> tuple[dict[str, Actions], int]:
    """Address → actions without what stays, and how many entries have another shape than Terraform writes."""
    found: dict[str, Actions] = {}
    odd = 0
    for entry in changes[:_MOST]:
        change = entry.get("change") if isinstance(entry, dict) else None
        asked = change.get("actions") if isinstance(change, dict) else None
        address = entry.get("address") if isinstance(entry, dict) else None
        if not isinstance(address, str) or not isinstance(asked, list) or not all(isinstance(word, str) and word in _ACTIONS for word in asked):
            odd += 1
        elif tuple(asked) not in _STAYS:
            found[address] = tuple(asked)
    return found, odd


def _difference(address: str, ours: Actions, theirs: Actions) -> str:
    name = "".join(letter if letter.isprintable() else "?" for letter in address[:_LONGEST])
    if not theirs:
        return f"{name}: {_words(ours)} was predicted and is not planned."
    if not ours:
        return f"{name}: {_words(theirs)} is planned and was not predicted."
    return f"{name}: {_words(ours)} was predicted, {_words(theirs)} is planned."


def _words(asked: Actions) -> str:
    return _WORDS.get(asked, ", ".join(asked[:4]))
