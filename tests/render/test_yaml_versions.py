"""Every YAML file of the trees means the same to a reader of YAML 1.1 (Ansible's) and to one of YAML 1.2."""

from pathlib import Path

import pytest
import ruamel.yaml
import yaml

OUT = Path(__file__).parents[2] / "out"
FILES = sorted(p for p in OUT.rglob("*") if p.suffix in (".yml", ".yaml") and p.is_file())


class Old(yaml.SafeLoader):
    """YAML 1.1, strict as in its specification: PyYAML itself takes y and n for text."""


Old.add_implicit_resolver("tag:yaml.org,2002:bool", yaml.resolver.re.compile(r"^(?:y|Y|n|N)$"), list("yYnN"))
Old.add_constructor("tag:yaml.org,2002:bool", lambda loader, node: node.value.lower() in ("y", "yes", "true", "on"))


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.relative_to(OUT).as_posix())
def test_both_versions_read_the_same(file):
    text = file.read_text(encoding="utf-8")
    new = ruamel.yaml.YAML(typ="safe", pure=True)
    assert repr(list(yaml.load_all(text, Old))) == repr(list(new.load_all(text)))


def test_there_are_such_files():
    assert len(FILES) > 100
