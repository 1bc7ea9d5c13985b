"""Ways to call the program: as a process of its own, and within this one where that is enough."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
# Nothing of the caller's may colour, widen or shorten what is printed.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONWARNINGS")}


@pytest.fixture
def iacgen(tmp_path):
    """Run ``python -m iacgen`` in an empty folder; the answer has returncode, stdout, stderr as text. A traceback is a failure."""

    def run(*args, input="", env=None, cwd=tmp_path):
        done = subprocess.run([sys.executable, "-m", "iacgen", *map(str, args)], input=input, capture_output=True, text=True, encoding="utf-8", cwd=cwd, env=ENVIRONMENT | (env or {}), timeout=120)
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def call(tmp_path, monkeypatch):
    """The same without a new process; the answer has exit_code, stdout, stderr."""
    from iacgen.cli.app import app

    monkeypatch.chdir(tmp_path)

    def run(*args, input=None):
        done = CliRunner().invoke(app, [str(a) for a in args], prog_name="iacgen", input=input)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done

    return run


@pytest.fixture
def lab():
    """The text of the smallest blueprint."""
    return (ROOT / "blueprints" / "lab.yaml").read_text(encoding="utf-8")


@pytest.fixture
def blueprint(tmp_path, lab):
    """The smallest blueprint as a file, ``lab.yaml``, that a test may edit."""
    file = tmp_path / "lab.yaml"
    file.write_text(lab, encoding="utf-8")
    return file


def files(folder):
    """Path → (bytes, time of the last change) of every file below a folder."""
    return {p.relative_to(folder).as_posix(): (p.read_bytes(), p.stat().st_mtime_ns) for p in Path(folder).rglob("*") if p.is_file()}


@pytest.fixture(name="files")
def files_fixture():
    """The function ``files``: what lies below a folder."""
    return files
