"""Ask Ansible about every site of a tree: inventory, syntax, lint in the production profile, and what none of them sees.

Nothing is connected to and nothing is changed: the programs read a copy. The hosts, groups and addresses that Ansible makes of
the inventory are compared with the design here, independently of the templates.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from .. import programs
from ..findings import finding
from ..judging import each_site, timed
from ..readable import unreadable
from ..verdict import Verdict
from .installation import Installation
from .rules import judge_files

READS = ("ansible/*/*.yml", "ansible/*/*.j2", "ansible/*/ansible.cfg", "ansible/*/.ansible-lint", "ansible/*/.yamllint")
# What a user's own runs leave beside the files.
_LEFT_BEHIND = shutil.ignore_patterns(".ansible", ".cache", "*.retry")


def applies(tree: Path) -> bool:
    """True when the tree holds a playbook."""
    return bool(_sites(tree))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on every site of ``tree``, of which ``project`` has the ``design``. About 15 s a site."""
    design = project.design

    def lost(site: str) -> Diagnostic:
        return finding("inventory-not-of-design", f"ansible/{site}/site.yml is missing: nothing sets its hosts up", ("sites", site))

    return timed("ansible", "ansible-playbook", lambda: each_site("ansible", "on-prem", _sites(tree), design, lost, lambda found, site: _of_site(found, tree, site, design)))


def _sites(tree: Path) -> list[str]:
    return sorted(playbook.parent.name for playbook in tree.glob("ansible/*/site.yml"))


def _of_site(found: programs.Found, tree: Path, site: str, design: Any) -> list[Diagnostic]:
    """All findings of one site. What cannot be parsed is not asked any further."""
    # A role takes the other files of its tree to the hosts, so all of it is copied.
    if faults := list(unreadable(tree, [pattern.replace("*", site, 1) for pattern in READS], ("*",))):
        return faults
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "cluster"
        shutil.copytree(tree, copy, ignore=_LEFT_BEHIND)
        ansible = Installation(found.path, copy / "ansible" / site, Path(temporary) / "home")
        findings = [*ansible.syntax()]
        parsed, complaints = ansible.parse()
        findings += complaints + (judge_files(parsed) if parsed else [])
        # From the cheap to the dear: what comes next would only say the same again.
        return findings or [*ansible.inventory(design, site)] or [*ansible.lint()]
