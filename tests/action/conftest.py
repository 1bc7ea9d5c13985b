"""A GitHub for each test: ``api`` answers on the loopback and remembers what it was asked."""

import importlib.util
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("iacgen_tests_github_api", Path(__file__).with_name("github_api.py"))
github_api = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = github_api  # a dataclass looks its own module up
_spec.loader.exec_module(github_api)


@pytest.fixture
def api():
    with github_api.serving() as answering:
        yield answering


@pytest.fixture(scope="session")
def token():
    return github_api.TOKEN
