"""Checks: one small file each, grouped by the stage that they judge. A check takes values and returns findings; it never prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..blueprint import Blueprint
from ..diagnostics import Diagnostic
from .blueprint import BLUEPRINT_CHECKS

__all__ = ["BLUEPRINT_CHECKS", "run"]


def run(checks: Iterable[Callable[[Blueprint], Iterable[Diagnostic]]], blueprint: Blueprint) -> list[Diagnostic]:
    """What all of them find, in their order."""
    return [finding for check in checks for finding in check(blueprint)]
