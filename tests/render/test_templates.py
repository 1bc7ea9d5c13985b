"""The environment: what a template may print, where templates are found, that nothing depends on the surroundings."""

import os
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest

from iacgen import paths
from iacgen.render import UnrepresentableValue, render, static_tree
from iacgen.render.templates import _environment


EXPECTED = 'I: "ıİ"\nz:\n  - 1.5'


@pytest.fixture
def templates(tmp_path, monkeypatch):
    """A folder of templates in place of the project's; ``write(path, text)`` puts one there."""
    monkeypatch.setattr("iacgen.render.templates.data_folder", lambda name: tmp_path / name)

    def write(path, text):
        file = tmp_path / "templates" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    yield write
    _environment.cache_clear()


def test_blocks_leave_no_blank_lines(templates):
    templates("slurm/a.conf.j2", "{% for host in hosts %}\n  {% if loop.first %}\nFirst={{ host | slurm }}\n  {% endif %}\n{% endfor %}\n# {{ hosts | length }}\n")
    assert render("slurm/a.conf.j2", hosts=["gpu0001", "gpu0002"]) == "First=gpu0001\n# 2\n"


@pytest.mark.parametrize("value", ["text", True, None, ["a"], {"a": 1}])
def test_what_no_filter_has_seen_is_not_printed(templates, value):
    templates("slurm/a.conf.j2", "A={{ value }}\n")
    with pytest.raises(UnrepresentableValue):
        render("slurm/a.conf.j2", value=value)


def test_joined_hosts_and_rendered_text(templates):
    templates("slurm/a.conf.j2", "{{ hosts | hostlist }} {{ hosts | map('slurm') | join(',') }} {{ part | asis }}")
    assert render("slurm/a.conf.j2", hosts=["n2", "n1"], part="a b") == "n[1-2] n2,n1 a b"
    templates("slurm/b.conf.j2", "{{ hosts | join(',') }}")
    with pytest.raises(UnrepresentableValue):
        render("slurm/b.conf.j2", hosts=["n2"])


def test_a_missing_word_stops(templates):
    templates("slurm/a.conf.j2", "A={{ forgotten }}\n")
    templates("slurm/b.conf.j2", "A={{ forgotten | default(omit) | slurm }}\n")
    for name in ("slurm/a.conf.j2", "slurm/b.conf.j2"):
        with pytest.raises((jinja2.UndefinedError, UnrepresentableValue)):
            render(name)


def test_ansible_templates_keep_ansibles_own_braces(templates):
    clash = '[[ -f x ]] && grep "[[:space:]]" <<EOF\nmode: "{{ x | default(omit) }}"\n{% raw %}{# no #}{% endraw %}\n'
    templates("ansible/group_vars/all.yml.j2", clash + "<# note #>\n<% for n in names %>\nname: <@ n | yaml @>\n<% endfor %>\n")
    assert render("ansible/group_vars/all.yml.j2", names=["NO"]) == clash + 'name: "NO"\n'
    with pytest.raises(UnrepresentableValue):
        render("ansible/group_vars/all.yml.j2", names=["{{ lookup('pipe', 'id') }}"])


def test_static_files_are_the_bytes_on_disk(templates):
    text = "---\n# {{ not ours }} <@ nor this @>\r\n\tend"
    for path in ("b/tasks/main.yml", "a.cfg", ".ansible-lint", "b/templates/x.j2", "b/__pycache__/x.pyc"):
        templates(f"ansible/static/{path}", text)
    assert static_tree("ansible/static") == {path: text for path in (".ansible-lint", "a.cfg", "b/tasks/main.yml", "b/templates/x.j2")}
    with pytest.raises(FileNotFoundError):
        static_tree("ansible/none")


def test_a_checkout_is_asked_before_the_package(tmp_path, monkeypatch):
    package = tmp_path / "iacgen"
    package.mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", package)
    assert paths.data_folder("templates") == package / "templates"
    (tmp_path / "templates").mkdir()  # somebody else's, in site-packages
    assert paths.data_folder("templates") == package / "templates"
    (tmp_path / "pyproject.toml").touch()
    assert paths.data_folder("templates") == tmp_path / "templates"


def test_this_checkout_renders_its_own_templates():
    assert paths.data_folder("templates") == Path(__file__).parents[2] / "templates"


@pytest.mark.parametrize("surroundings", [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_surroundings_do_not_matter(surroundings):
    """Sets are the usual way for a hash seed to reach a file."""
    code = "from iacgen.render import *; from iacgen.render.filters import yaml; print(fold({f'n{i}' for i in range(50)} | {'Z\\xdc1'}).encode(), yaml({'I': '\\u0131\\u0130', 'z': [1.5]}).encode())"
    answer = subprocess.run([sys.executable, "-c", code], env={"PATH": os.environ["PATH"], **surroundings}, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert answer.stdout == f"{'ZÜ1,n[0-49]'.encode()} {EXPECTED.encode()}\n"
