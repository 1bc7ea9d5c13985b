"""Fabrics of several kinds, designed once, with the files that are written for them."""

import csv
import io
from functools import cache
from pathlib import Path

import pytest

from iacgen.pipeline import run
from iacgen.placement.project import Project
from iacgen.targets import fabric

BLUEPRINTS = Path(__file__).parents[3] / "blueprints"
CASES = Path(__file__).parents[2] / "cases/fabric"


@cache
def project_of(name):
    """A shipped blueprint or one of CASES, through the pipeline; without jobs where a finding about them stops it."""
    file = next(path for folder in (CASES, BLUEPRINTS) if (path := folder / f"{name}.yaml").exists())
    state = run(file.read_text(), file.name)
    assert state.design, state.findings
    return state.project or Project(name, state.design, {}, {})


@cache
def files_of(name):
    return fabric.render(project_of(name))


def rows(text):
    """A table as its reader has it: one dict a row."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def table():
    """Rows of a file of a case."""
    return lambda name, path: rows(files_of(name)[f"fabric/{path}"])


@pytest.fixture
def files():
    return files_of


@pytest.fixture
def project():
    return project_of
