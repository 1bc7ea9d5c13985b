"""A blueprint is reviewed as data: no text of it may become a command on the machine that deploys."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import subprocess
from functools import cache

import pytest

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import ansible
from iacgen.verify import programs

pytestmark = pytest.mark.judge("ansible")

# Prints a variable the way the roles use it: templated by Ansible.
PLAYBOOK = """---
- name: Say what Ansible makes of the data
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Say it
      ansible.builtin.debug:
        msg: "PROBE {{ chrony_servers | to_json | b64encode }} END"
"""
HOSTILE = [
    "NO", "on", "y", "~", "null", "1:30", "0644", "0o17", "1e3", "1_000", "2.10", "0x7fff", "2024-01-01", "=x", "=", "<<", "", " ",
    "!unsafe x", "!!python/object/apply:os.system ['touch {marker}']", "!vault x", "&a", "*a", "- x", "# x", "a: b", "{x: 1}", "[1]", "@x", "%x", "|", ">",
    "'", '"', "\\", "\\n", "'\"'", "${HOME}", "$(touch {marker})", "`touch {marker}`", "; touch {marker}", "{ {x} }", "}}", "%}", "<@ 1 @>", "<% x %>", "<# x #>",
    "two\nlines", "a\ttab", "carriage\rreturn", "é", "\u2028", "\u202e", "\x07",
]  # fmt: skip


@cache
def project():
    state = run((data_folder("blueprints") / "lab.yaml").read_text(), "lab.yaml")
    assert state.project, state.findings
    return state.project


def said(folder, values):
    """The list as Ansible has it after reading the generated inventory; the blueprint's own checks are passed by."""
    design = project().design
    hostile = dataclasses.replace(design, software=dataclasses.replace(design.software, time_servers=tuple(values)))
    for path, text in ansible.render(dataclasses.replace(project(), design=hostile)).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return ask(folder)


def ask(folder):
    (folder / "probe.yml").write_text(PLAYBOOK)
    site = folder / "ansible" / "lab-room"
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder), "ANSIBLE_NOCOLOR": "1"}
    program = programs.find("ansible").path / "ansible-playbook"
    done = subprocess.run([program, folder / "probe.yml"], cwd=site, env=environment, capture_output=True, text=True, timeout=120)
    found = re.search(r"PROBE\s+(\S+)\s+END", done.stdout)
    assert found, done.stdout + done.stderr
    return json.loads(base64.b64decode(found[1]))


def test_hostile_text_comes_out_as_it_went_in(tmp_path):
    marker = tmp_path / "marker"
    values = [text.replace("{marker}", str(marker)) for text in HOSTILE]
    assert said(tmp_path, values) == values
    assert not marker.exists()


def test_the_probe_would_see_an_evaluated_expression(tmp_path):
    """The same run with the expression that the renderer refuses, written by hand: Ansible does run it."""
    marker = tmp_path / "marker"
    said(tmp_path, ["placeholder"])
    path = tmp_path / "ansible/lab-room/inventory/group_vars/all/cluster.yml"
    path.write_text(path.read_text().replace("placeholder", f"\"{{{{ lookup('pipe', 'touch {marker}; echo ran') }}}}\""))
    assert ask(tmp_path) == ["ran"]
    assert marker.exists()
