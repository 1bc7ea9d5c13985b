"""What a shell offers at the tab key, in each shell's own dialect, and that asking loads nothing heavy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.cli.app import app
from iacgen.cli.init import proof
from iacgen.explain import pages
from iacgen.starter import Wish, write

ROOT = Path(__file__).parents[2]
HEAVY = {"pydantic", "numpy", "networkx", "jinja2", "ruamel"}
LOADED = """
import json, sys
from iacgen.cli import main
sys.argv = ["iacgen"]
try:
    main()
finally:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


def offered(line, cwd=ROOT, shell="bash"):
    """(what is offered for the last word of ``line``, modules that were loaded). A blank at the end begins a new word."""
    words = line.split(" ")
    asked = {"bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}, "zsh": {"_TYPER_COMPLETE_ARGS": line}, "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}}[shell]
    done = subprocess.run([sys.executable, "-c", LOADED], env=os.environ | {"_IACGEN_COMPLETE": f"complete_{shell}"} | asked, capture_output=True, text=True, cwd=cwd, timeout=60)
    assert "Traceback" not in done.stderr
    return list(filter(None, done.stdout.splitlines())), set(json.loads(done.stderr.splitlines()[-1]))


def test_commands():
    words, loaded = offered("iacgen ")
    assert words == [c.name or c.callback.__name__ for c in app.registered_commands]
    assert not loaded & HEAVY


def test_findings_by_name_and_by_id():
    words, loaded = offered("iacgen explain sl")
    assert words == sorted((p.slug for p in pages() if p.slug.startswith("sl")), key=words.index)
    assert words and not loaded & HEAVY
    assert offered("iacgen explain IAC33")[0] == [p.id for p in pages() if p.id.startswith("IAC33")]
    assert len(offered("iacgen explain ")[0]) == len(pages())


def test_ids_of_the_catalog():
    words, loaded = offered("iacgen catalog dgx")
    assert words == [id for id in catalog.ids("systems") if id.startswith("dgx")]
    assert words and not loaded & HEAVY
    assert offered("iacgen catalog ")[0] == sorted({id for kind in catalog.KINDS for id in catalog.ids(kind)})


def test_a_system_is_offered_when_init_can_write_a_blueprint_for_it():
    words, loaded = offered("iacgen init --system ")
    gpus = [id for id in catalog.ids("systems") if (gpu := catalog.system(id).gpu) and catalog.gpu(gpu).vendor == "NVIDIA"]
    assert words == [id for id in gpus if any(not proof(write(Wish(id, 1, fabric=fabric))).findings for fabric in fabrics(id))]
    assert {"dgx-h100", "p5.48xlarge"} <= set(words) and not loaded & HEAVY
    assert offered("iacgen init --system dgx-h")[0] == ["dgx-h100", "dgx-h200"]


def fabrics(system):
    return (None,) if catalog.system(system).cloud else ("infiniband", "roce")


@pytest.mark.parametrize("command", ["check", "generate"])
def test_blueprints_and_what_lies_in_folders(tmp_path, command):
    for name in ("lab.yaml", "notes.txt", "more/big.yml", "more/deep/x.yaml", ".hidden.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    words, loaded = offered(f"iacgen {command} ", cwd=tmp_path)
    assert words == ["lab.yaml", "more/big.yml"]
    assert not loaded & HEAVY
    assert offered(f"iacgen {command} more/b", cwd=tmp_path)[0] == ["more/big.yml"]
    assert offered(f"iacgen {command} {tmp_path}/l", cwd=ROOT)[0] == [f"{tmp_path}/lab.yaml"]
    assert offered(f"iacgen {command} nowhere/", cwd=tmp_path)[0] == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_show_the_sentence_too(shell):
    words, loaded = offered("iacgen explain job-does", shell=shell)
    page = next(p for p in pages() if p.slug == "job-does-not-fit")
    assert any(page.slug in line and page.summary.rstrip(".") in line for line in words)
    assert not loaded & HEAVY
    assert len(offered("iacgen explain ", shell=shell)[0]) >= len(pages())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell(shell):
    done = subprocess.run([sys.executable, "-c", LOADED.replace('["iacgen"]', f'["iacgen", "--show-completion", "{shell}"]')], env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}, capture_output=True, text=True, timeout=60)
    assert f"_IACGEN_COMPLETE=complete_{shell}" in done.stdout
    assert not set(json.loads(done.stderr.splitlines()[-1])) & HEAVY


def test_the_script_works_in_a_shell(tmp_path):
    program = Path(sys.executable).parent
    script = f'''
        PATH={program}:$PATH
        eval "$(iacgen --show-completion)"
        COMP_WORDS=(iacgen explain job-)
        COMP_CWORD=2
        _iacgen_completion iacgen
        printf "%s\\n" "${{COMPREPLY[@]}}"
    '''
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert done.stdout.split() == [p.slug for p in pages() if p.slug.startswith("job-")], done.stderr
