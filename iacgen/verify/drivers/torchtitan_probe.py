"""Let TorchTitan read its configuration. Runs in the interpreter that has torchtitan; stands alone.

    python torchtitan_probe.py FILES

FILES is a JSON list of paths. Prints one line: the word PROBE and a JSON list with, for each, ``refused`` (TorchTitan's complaint, or
null), ``values`` (section → key → value, as its own classes hold them) and ``shape`` (the numbers of the model's flavor, null for
none that it has). Its package is entered without its ``__init__``, which would import all that training needs.
"""

import ast
import importlib.util
import json
import sys
import types
from dataclasses import asdict
from pathlib import Path

FOLDER = Path(importlib.util.find_spec("torchtitan").submodule_search_locations[0])
for name in ("torchtitan", "torchtitan.tools", "torchtitan.config"):
    module = types.ModuleType(name)
    module.__path__ = [str(FOLDER.joinpath(*name.split(".")[1:]))]
    sys.modules[name] = module

from torchtitan.config.manager import ConfigManager  # noqa: E402


def shape(model, flavor):
    """The plain numbers in the table of flavors of a model, read from its source."""
    source = FOLDER / "models" / model / "__init__.py"
    if not source.is_file():
        return None
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == flavor and isinstance(value, ast.Call):
                    return {word.arg: word.value.value for word in value.keywords if isinstance(word.value, ast.Constant)}
    return None


def read(path):
    try:
        config = ConfigManager().parse_args(["--job.config_file", path])
    except (Exception, SystemExit) as refusal:  # whatever TorchTitan raises is its refusal
        return {"refused": f"{type(refusal).__name__}: {refusal}"}
    values = asdict(config)
    return {"refused": None, "values": values, "shape": shape(values["model"]["name"], values["model"]["flavor"])}


if __name__ == "__main__":
    print("PROBE", json.dumps([read(path) for path in json.loads(sys.argv[1])], default=str), flush=True)
