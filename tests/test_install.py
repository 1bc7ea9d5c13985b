"""The lists that install.sh installs from, and the variables that it leaves for the tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REAL = Path(__file__).parent / "real"
PROGRAMS = Path(__file__).parent.parent / "iacgen" / "verify" / "programs.py"
LISTS = sorted(REAL.glob("*.txt"))


@pytest.mark.parametrize("file", LISTS, ids=lambda f: f.stem)
def test_every_requirement_is_one_exact_version(file):
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+(\[[a-z]+\])?==[0-9][0-9a-z.]*", line)] == []


def test_every_list_is_installed_and_every_installed_list_is_there():
    named = set(re.findall(r"\$here/([a-z-]+\.txt)", (REAL / "install.sh").read_text()))
    assert named == {file.name for file in LISTS}


def test_the_variables_it_leaves_are_those_that_the_finders_read():
    left = set(re.findall(r"printf '([A-Z_]+)=", (REAL / "install.sh").read_text()))
    read = set(re.findall(r'"((?:IACGEN|TF)_[A-Z_]+)"', PROGRAMS.read_text()))
    # Looked for on PATH: Terraform is not installed here, opensm and Chromium by apt.
    assert left == read - {"IACGEN_TERRAFORM", "IACGEN_FABRIC_BIN", "IACGEN_CHROMIUM"}
