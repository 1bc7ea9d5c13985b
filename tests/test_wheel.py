"""The wheel is whole: built, installed by pip into an environment of its own, it writes the committed trees from another folder.

So does an editable install, and that one sees an edit of a template at once, though it leaves a second copy behind.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = [p.stem for p in sorted((ROOT / "blueprints").glob("*.yaml"))]
SOURCES = ("iacgen", "templates", "blueprints")
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore")
# Neither this environment nor a variable of its user may lend the second one anything.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))} | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(*words, cwd):
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of what the wheel is made of, so that building leaves nothing in the real one and edits hurt nobody."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BESIDE:
        shutil.copy(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, checkout, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A fresh environment with the wheel and what it asks for, from the package index."""
    folder = tmp_path_factory.mktemp("second") / "venv"
    run(sys.executable, "-m", "venv", folder, cwd=folder.parent)
    run(folder / "bin/pip", "install", "-q", wheel, cwd=folder.parent)
    return folder


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


def test_holds_all_sources_and_nothing_else(checkout, wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {f"iacgen/{path}": content for path, content in files(checkout / "iacgen").items()}
    wanted |= {f"iacgen/{name}/{path}": content for name in ("templates", "blueprints") for path, content in files(checkout / name).items()}
    assert packed.keys() == wanted.keys()
    assert packed == wanted
    for part in ("templates/slurm/slurm.conf.j2", "blueprints/lab.yaml", "catalog/data/gpus/h100-sxm.yaml", "verify/drivers/nccl_probe.py"):
        assert f"iacgen/{part}" in packed


def test_names_its_licence_and_its_command(wheel):
    with zipfile.ZipFile(wheel) as archive:
        info = {name.partition(".dist-info/")[2]: archive.read(name).decode() for name in archive.namelist() if ".dist-info/" in name}
    assert "License-Expression: Apache-2.0" in info["METADATA"].splitlines()
    assert info["licenses/LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "iacgen = iacgen.cli:main" in info["entry_points.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_writes_the_committed_tree_from_another_folder(environment, tmp_path, name):
    package = Path(run(environment / "bin/python", "-c", "import iacgen; print(iacgen.__path__[0])", cwd=tmp_path).strip())
    assert package.is_relative_to(environment)
    run(environment / "bin/iacgen", "generate", package / "blueprints" / f"{name}.yaml", "--out", "made", cwd=tmp_path)
    assert files(tmp_path / "made" / name) == files(ROOT / "out" / name)


def test_an_editable_install_sees_an_edited_template(environment, checkout, tmp_path):
    run(environment / "bin/pip", "install", "-q", "--no-deps", "-e", checkout, cwd=tmp_path)
    stale = list(environment.glob("lib/python*/site-packages/iacgen/templates/slurm/slurm.conf.j2"))
    assert stale, "the copy that must not be read is not there"
    template = checkout / "templates/slurm/slurm.conf.j2"
    template.write_text("# edited\n" + template.read_text(encoding="utf-8"), encoding="utf-8")
    run(environment / "bin/iacgen", "generate", checkout / "blueprints/lab.yaml", cwd=tmp_path)
    assert (tmp_path / "out/lab/slurm/slurm.conf").read_text(encoding="utf-8").startswith("# edited\n")
    assert not stale[0].read_text(encoding="utf-8").startswith("# edited\n")
