"""The sample files with what they say, and the meaning of a hierarchy, for the tests of this folder: they are no package."""

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def meaning():
    """The functions of meaning.py."""
    spec = importlib.util.spec_from_file_location("discovery_meaning", HERE / "meaning.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
