"""Checks: one small file each, grouped by the stage that they judge. A check takes values and returns findings; it never prints.

A check is found by lying in its folder: no list to keep. ``references`` comes before ``blueprint``, which may follow every name;
``cluster`` sees the design, the jobs and the placements too.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from ..diagnostics import Diagnostic
from .rule import Profile, Rule

STAGES = ("references", "blueprint", "cluster")


@cache
def rules(stage: str) -> tuple[Rule, ...]:
    """The checks of one stage in the order of their ids."""
    package = import_module(f"{__name__}.{stage}")
    found = [import_module(f"{package.__name__}.{m.name}").check for m in pkgutil.iter_modules(package.__path__)]
    return tuple(sorted(found, key=lambda rule: rule.id))


def run(stage: str, subject: Any, profile: Profile = "production") -> list[Diagnostic]:
    """What all checks of a stage find about ``subject``."""
    return [finding for rule in rules(stage) for finding in rule.run(subject, profile)]
