"""What every test shares: the judges' places, the ``judge`` marker, pytester."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

_TESTS = Path(__file__).parent


def _module(name: str) -> ModuleType:
    """A file beside this one as a module; by path, since the tests are no package."""
    spec = importlib.util.spec_from_file_location(f"iacgen_tests_{name}", _TESTS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


# A machine under load is slow and not wrong: what must be fast is measured in tests/bench.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_configure(config: pytest.Config) -> None:
    judges = _module("judges")
    judges.load_defaults(_TESTS.parent / ".judges" / "env")
    config.pluginmanager.register(judges, "judges")
