"""The trees under ``out/`` are what the blueprints give now: not a file more, less or other."""

from pathlib import Path

import pytest

from iacgen.output import plan
from iacgen.pipeline import run, tree

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "blueprints").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_the_committed_tree_is_current(file):
    state = run(file.read_text(encoding="utf-8"), file.name)
    assert state.project, state.findings
    folder = ROOT / "out" / state.project.name
    changes = plan(tree(state), folder)
    again = f"run: .venv/bin/iacgen generate blueprints/{file.name}"
    groups = {"new": changes.create, "changed": changes.update, "removed": changes.delete, "edited by hand": changes.edited, "in the way": changes.foreign}
    wrong = [f"{word}: {path}" for word, paths in groups.items() for path in paths]
    assert not wrong, f"out/{state.project.name} is not current ({len(wrong)}: {'; '.join(wrong[:10])}); {again}"
    assert changes.clean, f"the manifest of out/{state.project.name} is not current; {again}"
    standing = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    foreign = sorted(standing - changes.tree.keys() - {".iacgen/manifest.json"})
    assert not foreign, f"files in out/{state.project.name} that iacgen did not write: {', '.join(foreign)}"


def test_every_blueprint_is_named_as_its_file_and_has_a_tree():
    names = {file.stem for file in FILES}
    assert {p.name for p in (ROOT / "out").iterdir()} == names
    for file in FILES:
        assert f"\nname: {file.stem}\n" in file.read_text(encoding="utf-8")
