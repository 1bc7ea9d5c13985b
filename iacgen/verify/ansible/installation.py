"""One site on a temporary copy, and the programs that read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding
from ..process import Completed, run
from .expected import addresses, groups
from .rules import Parsed

_PROBE = Path(__file__).parents[1] / "drivers" / "ansible_probe.py"
_LONGEST_S = 300.0
# Prints what Ansible makes of the connection address of some hosts: one line, as JSON between two words.
_ADDRESSES = """---
- name: Say where hosts are reached
  hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - name: Say it
      ansible.builtin.debug:
        msg: "PROBE {% for host in asked %}{{ host }}={{ hostvars[host].ansible_host }} {% endfor %}END"
"""


@dataclass(frozen=True)
class Installation:
    """``programs`` is the folder of Ansible's programs, ``site`` the folder with site.yml, ``home`` an empty one for their files."""

    programs: Path
    site: Path
    home: Path

    def ask(self, program: str, *words: str | Path) -> Completed:
        """Run one program in the site's folder, with no account, settings or caches of the user."""
        self.home.mkdir(exist_ok=True)
        env = {
            "HOME": str(self.home),
            "ANSIBLE_HOME": str(self.home / "ansible"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_CACHE_PLUGIN": "memory",
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
        }
        return run((self.programs / program, *words), cwd=self.site, env=env, timeout=_LONGEST_S)

    def syntax(self) -> Iterator[Diagnostic]:
        """``--syntax-check``; a warning counts, since an unknown group is no more than that to Ansible."""
        done = self.ask("ansible-playbook", "site.yml", "--syntax-check")
        if not done.ok or "[WARNING]" in done.err:
            yield finding("ansible-refused", f"{self.site.name}/site.yml: {_short(done.err or done.out)}")

    def parse(self) -> tuple[Parsed | None, list[Diagnostic]]:
        """Every YAML file and template as Ansible's own interpreter reads it."""
        done = self.ask(_interpreter(self.programs), _PROBE, self.site)
        line = next((text for text in done.out.splitlines() if text.startswith("PROBE ")), None)
        if line is None:
            return None, [finding("ansible-refused", f"{self.site.name}: {_short(done.err or done.out)}")]
        answer = json.loads(line.removeprefix("PROBE "))
        broken = [finding("broken-expression", f"{self.site.name}/{path}: {why}") for path, why in answer["broken"].items()]
        files = frozenset(p.relative_to(self.site).as_posix() for p in self.site.rglob("*") if p.is_file())
        beside = frozenset(p.relative_to(self.site.parents[1]).as_posix() for p in self.site.parents[1].rglob("*") if p.is_file())
        return Parsed(self.site.name, files, beside, answer["documents"], answer["names"]), broken

    def inventory(self, design: Any, site: str) -> Iterator[Diagnostic]:
        """Hosts, groups and addresses, against the design."""
        done = self.ask("ansible-inventory", "--list")
        if not done.ok or "[WARNING]" in done.err:
            yield finding("ansible-refused", f"{self.site.name}/inventory: {_short(done.err or done.out)}")
            return
        listed, path = json.loads(done.out), ("sites", site)
        for name, wanted in groups(design, site).items():
            got = set(_members(listed, name))
            for what, hosts in (("lacks", wanted - got), ("has besides", got - wanted)):
                if hosts:
                    some = ", ".join(sorted(hosts)[:5])
                    yield finding("inventory-not-of-design", f"{self.site.name}: group {name} {what} {len(hosts)} of {len(wanted)} hosts: {some}", path)
        yield from self._addresses(addresses(design, site), path)

    def _addresses(self, wanted: dict[str, str], path: tuple[str | int, ...]) -> Iterator[Diagnostic]:
        playbook = self.home / "addresses.yml"
        playbook.write_text(_ADDRESSES, encoding="utf-8")
        done = self.ask("ansible-playbook", playbook, "-e", json.dumps({"asked": sorted(wanted)}))
        said = re.search(r"PROBE (.*?) ?END", " ".join(done.out.split()))
        if said is None or not done.ok:
            yield finding("ansible-refused", f"{self.site.name}: where hosts are reached: {_short(done.out + done.err)}")
            return
        got = dict(word.split("=", 1) for word in said[1].split())
        for host, address in wanted.items():
            if got.get(host) != address:
                yield finding("inventory-not-of-design", f"{self.site.name}: {host} is reached at {got.get(host)}, the design says {address}", path)

    def lint(self) -> Iterator[Diagnostic]:
        """ansible-lint, every rule of the production profile."""
        done = self.ask("ansible-lint", "--profile", "production", "--offline", "--nocolor", "--format", "codeclimate")
        try:
            complaints = json.loads(done.out)
        except ValueError:
            complaints = []
        for complaint in complaints:
            place = complaint["location"]
            line = place.get("lines", {}).get("begin") or place.get("positions", {}).get("begin", {}).get("line")
            yield finding("ansible-lint-complaint", f"{self.site.name}/{place['path']}:{line}: {complaint['check_name']}: {_short(complaint['description'])}")
        if not complaints and (not done.ok or "Passed: 0 failure(s), 0 warning(s)" not in done.err):
            yield finding("ansible-lint-complaint", f"{self.site.name}: {_short(done.err or done.out)}")


@cache
def _interpreter(programs: Path) -> str:
    """The Python that runs Ansible, which has its YAML and its Jinja; Ansible names it itself."""
    said = re.search(r"^ *python version = .*\((/[^()]*)\)$", run((programs / "ansible-playbook", "--version")).out, re.MULTILINE)
    return said[1] if said else "python3"


def _members(listed: dict[str, Any], name: str) -> Iterator[str]:
    """Hosts of a group and of all groups below it; ``ansible-inventory --list`` leaves empty groups out."""
    group = listed.get(name, {})
    yield from group.get("hosts", ())
    for child in group.get("children", ()):
        yield from _members(listed, child)


def _short(text: str, most: int = 400) -> str:
    """The words of a message on one line, cut in the middle."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[: most // 2]} ... {words[-most // 2 :]}"
