"""The house keeps its walls: which room may import which, who may use which library, how big a module may be."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "iacgen"
EVERYWHERE = {"diagnostics", "units", "paths"}
MAY_IMPORT = {
    "cli": {"pipeline", "ordering", "review", "source", "blueprint", "design", "catalog", "explain", "starter", "drawings", "render", "output", "verify"},
    "diagnostics": set(),
    "source": set(),
    "blueprint": {"source"},
    "catalog": {"source"},
    "design": {"blueprint", "catalog"},
    "training": {"catalog"},
    "discovery": {"source", "design", "render"},
    "placement": {"design", "training"},
    "ordering": {"design", "training", "placement", "discovery", "targets", "drawings", "render"},
    "checks": {"blueprint", "catalog", "design", "training", "placement"},
    "explain": set(),
    "starter": {"catalog", "training", "render"},
    "drawings": {"design", "render"},
    "targets": {"design", "training", "placement", "drawings", "render"},
    "render": set(),
    "output": set(),
    "review": {"blueprint", "catalog", "design", "training", "placement", "output"},
    "verify": {"output"},
}
ONLY_IN = {
    "networkx": {"design/fabric", "discovery", "placement", "review", "verify"},
    "jinja2": {"render", "verify/drivers"},  # a driver runs in a judge's own environment, with its Jinja
    "typer": {"cli"},
    "rich": {"cli"},
    "ruamel": {"source", "catalog"},
    "subprocess": {"verify", "output/git.py"},
}
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path, runtime_only=False):
    """(absolute dotted name, line) of every import in a file; ``TYPE_CHECKING`` blocks left out when ``runtime_only``."""
    tree = ast.parse(path.read_text())
    typing_only = {id(n) for block in ast.walk(tree) if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test) for n in ast.walk(block)} if runtime_only else set()
    package = ("iacgen", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            name = ".".join(filter(None, [base, node.module]))
            yield from ((f"{name}.{alias.name}", node.lineno) for alias in node.names)


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_a_room_imports_what_it_may(path):
    room = room_of(path)
    if room in ("pipeline", "__init__", "__main__"):
        return
    # The two ends of the flow name the types of all that lies between, and get it from the pipeline.
    for name, line in imports(path, runtime_only=room in ("cli", "verify")):
        parts = name.split(".")
        if parts[0] != "iacgen" or len(parts) < 2 or parts[1] == "__version__":
            continue
        assert parts[1] in {room} | EVERYWHERE | MAY_IMPORT.get(room, set()), f"{path.name}:{line} imports {name}"


def test_the_command_line_may_import_no_more_than_it_does():
    used = {name.split(".")[1] for path in MODULES if room_of(path) == "cli" for name, _ in imports(path, runtime_only=True) if name.startswith("iacgen.")}
    assert used - EVERYWHERE - {"cli", "__version__"} == MAY_IMPORT["cli"]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_a_library_stays_in_its_rooms(path):
    where = path.relative_to(PACKAGE).as_posix()
    for name, line in imports(path, runtime_only=True):
        rooms = ONLY_IN.get(name.split(".")[0])
        assert rooms is None or any(where == r or where.startswith(f"{r}/") for r in rooms), f"{where}:{line} imports {name}"


def test_a_target_imports_no_target():
    names = {p.stem for p in (PACKAGE / "targets").glob("*.py")} | {p.name for p in (PACKAGE / "targets").iterdir() if p.is_dir()}
    for path in (PACKAGE / "targets").rglob("*.py"):
        own = path.relative_to(PACKAGE / "targets").parts[0].removesuffix(".py")
        for name, line in imports(path):
            parts = name.split(".")
            if parts[:2] == ["iacgen", "targets"] and len(parts) > 2:
                assert own == "__init__" or parts[2] == own or parts[2] not in names, f"{path.name}:{line} imports {name}"


def test_nothing_below_the_command_line_prints():
    for path in MODULES:
        if room_of(path) in ("cli",) or "drivers" in path.parts:
            continue
        calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "print"]
        assert not calls, f"{path.relative_to(PACKAGE)}:{calls[0].lineno} prints"


def test_no_clock_environment_or_chance_in_the_core():
    """Same blueprint, same bytes: the core reads no clock, no environment, no random number."""
    for path in MODULES:
        if room_of(path) in ("cli", "verify", "output"):
            continue
        used = {name.split(".")[0] for name, _ in imports(path, runtime_only=True)}
        used -= {"datetime"} if room_of(path) == "catalog" else set()  # a source has a date
        assert not used & {"time", "datetime", "random", "secrets", "uuid", "socket", "os", "platform", "getpass", "locale"}, path


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_a_module_is_one_room(path):
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_a_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


def test_templates_stay_small():
    for path in (PACKAGE.parent / "templates").rglob("*.j2"):
        assert len(path.read_text().splitlines()) <= 150, path
