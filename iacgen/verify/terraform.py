"""Ask Terraform, with the real AWS provider, about every root of a tree: fmt, init, validate, plan, and the root's own tests.

Nothing is built and no cloud is called: the plan runs without an account, on a copy. What the plan would build is compared
with the design here, independently of the templates.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic, errors

from . import programs
from .findings import finding
from .judging import each_site, timed
from .process import Completed, run
from .readable import unreadable
from .terraform_plan import differences
from .verdict import Verdict

READS = (
    "terraform/*/*.tf",
    "terraform/*/*.tftpl",
    "terraform/*/terraform.tfvars.json",
    "terraform/*/tests/*.tftest.hcl",
    "terraform/*/boot/*.sh",
)
# A root takes the other files of its tree to the machines; those of other readers do not matter to it.
_BESIDE = ("slurm", "nccl", "training")
_LONGEST_S = 300.0
# Resources that hold data, or without which data cannot be read; by type, and by name where others of the type hold none.
_KEPT = ('"aws_fsx_lustre_file_system" "data"', '"aws_s3_bucket" "data"', '"aws_kms_key" "main"')
_RESOURCE = re.compile(r'^resource (?P<of>"(?P<type>\w+)" "(?P<name>\w+)") \{$(?P<body>.*?)^\}$', re.MULTILINE | re.DOTALL)
# The image is the operator's choice; a plan asks nobody whether it exists.
_IMAGE = "ami-00000000000000000"
# Keeps the provider from calling anybody while it plans.
_OFFLINE = {
    "provider": {
        "aws": {
            "access_key": "none",
            "secret_key": "none",
            "skip_credentials_validation": True,
            "skip_metadata_api_check": True,
            "skip_region_validation": True,
            "skip_requesting_account_id": True,
        }
    }
}


def applies(tree: Path) -> bool:
    """True when the tree holds a Terraform root."""
    return bool(_sites(tree))


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on every root of ``tree``, of which ``project`` has the ``design``."""
    design = project.design

    def lost(site: str) -> Diagnostic:
        return finding("plan-not-of-design", f"terraform/{site} is missing: nothing builds its machines", ("sites", site))

    return timed("terraform", "terraform", lambda: each_site("terraform", "aws", _sites(tree), design, lost, lambda found, site: _of_root(found, tree, tree / "terraform" / site, design)))


def _sites(tree: Path) -> list[str]:
    return sorted(folder.name for folder in tree.glob("terraform/*") if any(folder.glob("*.tf")))


def _of_root(found: programs.Found, tree: Path, root: Path, design: Any) -> list[Diagnostic]:
    """All findings of one root. A step that the later ones need ends the questions when it fails."""
    copied = [f"terraform/{root.name}/*", *(f"{folder}/*" for folder in _BESIDE)]
    if faults := list(unreadable(tree, [pattern.replace("*", root.name, 1) for pattern in READS], copied)):
        return faults
    with tempfile.TemporaryDirectory() as temporary:
        terraform = Terraform.on_copy(found, tree, root, Path(temporary))
        findings = [*terraform.formatting(), *_shell_syntax(root), *_unguarded(root)]
        for step in (terraform.initialise, terraform.validate, lambda: terraform.plan(design), terraform.test):
            said = list(step())
            findings += said
            if errors(said):
                break
    return findings


@dataclass(frozen=True)
class Terraform:
    """One root on a temporary copy, and the program that reads it."""

    program: Path
    mirror: Path
    root: Path
    home: Path

    @classmethod
    def on_copy(cls, found: programs.Found, tree: Path, root: Path, work: Path) -> Terraform:
        """Copy ``root`` and what it reads beside itself, without what a user's own runs left there."""
        copy = work / "cluster" / "terraform" / root.name
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".terraform*", "*.tfstate*", "*_override.tf", "*_override.tf.json"))
        for folder in _BESIDE:
            if (tree / folder).is_dir():
                shutil.copytree(tree / folder, work / "cluster" / folder)
        home = work / "home"
        home.mkdir()
        assert found.companion
        return cls(found.path, found.companion, copy, home)

    def ask(self, *words: str) -> Completed:
        """Run Terraform in the root, without colour, questions, an account or a home of its own."""
        env = {
            "HOME": str(self.home),
            "CHECKPOINT_DISABLE": "1",
            "TF_IN_AUTOMATION": "1",
            "TF_INPUT": "0",
            "TF_VAR_ami": _IMAGE,
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        return run((self.program, *words), cwd=self.root, env=env, timeout=_LONGEST_S)

    def formatting(self) -> Iterator[Diagnostic]:
        """``fmt``: a root is generated in the form that it would have after formatting."""
        done = self.ask("fmt", "-check", "-recursive")
        if not done.ok:
            for name in done.out.split() or [done.err]:
                yield finding("terraform-unformatted", f"{self.root.name}/{name}")

    def initialise(self) -> Iterator[Diagnostic]:
        """``init`` from the local mirror of providers."""
        done = self.ask("init", "-no-color", f"-plugin-dir={self.mirror}")
        if not done.ok:
            yield finding("terraform-refused", f"{self.root.name}: init: {_flat(done.err)}")

    def validate(self) -> Iterator[Diagnostic]:
        """``validate``: names, types and references against the provider's schema."""
        done = self.ask("validate", "-json")
        try:
            yield from self._findings("validate", json.loads(done.out)["diagnostics"])
        except (ValueError, KeyError):
            yield finding("terraform-refused", f"{self.root.name}: validate: {_flat(done.err)}")

    def plan(self, design: Any) -> Iterator[Diagnostic]:
        """``plan`` of an empty account, compared with the design."""
        override = self.root / "iacgen_offline_override.tf.json"
        override.write_text(json.dumps(_OFFLINE), encoding="utf-8")
        try:
            yield from self._step("plan", "-out=iacgen.tfplan")
            shown = self.ask("show", "-json", "iacgen.tfplan")
        finally:
            override.unlink()
        if shown.ok:
            for difference in differences(json.loads(shown.out), design, self.root.name):
                yield finding("plan-not-of-design", f"{self.root.name}: {difference}", ("sites", self.root.name))

    def test(self) -> Iterator[Diagnostic]:
        """``test``: the root's own tests, with a mocked provider."""
        yield from self._step("test")

    def _step(self, command: str, *words: str) -> Iterator[Diagnostic]:
        """A command that says in JSON lines what is wrong."""
        done = self.ask(command, "-json", *words)
        lines = [json.loads(line) for line in done.out.splitlines() if line.startswith("{")]
        findings = list(self._findings(command, [line["diagnostic"] for line in lines if "diagnostic" in line]))
        yield from findings
        if not done.ok and not errors(findings):
            why = f"no answer after {_LONGEST_S:.0f} s" if done.timed_out else _flat(done.err or done.out[-400:])
            yield finding("terraform-refused", f"{self.root.name}: {command}: {why}")

    def _findings(self, command: str, diagnostics: list[dict[str, Any]]) -> Iterator[Diagnostic]:
        for diagnostic in diagnostics:
            place = diagnostic.get("range")
            where = f"{self.root.name}/{place['filename']}:{place['start']['line']}" if place else self.root.name
            message = f"{where}: {command}: {diagnostic['summary']}: {_flat(diagnostic.get('detail', ''))}"
            severity = "error" if diagnostic["severity"] == "error" else "warning"
            yield finding("terraform-refused", message, ("sites", self.root.name), severity=severity)


def _shell_syntax(root: Path) -> Iterator[Diagnostic]:
    """What the machines run at boot, read by the shell that will run it."""
    bash = shutil.which("bash")
    for script in sorted(root.glob("boot/*.sh")) if bash else ():
        done = run((bash, "-n", script))
        if not done.ok:
            yield finding("shell-syntax", f"{root.name}/boot/{script.name}: {_flat(done.err)}")
    if bash is None:
        yield finding("shell-syntax", "bash is missing: it reads the scripts that machines boot with")


def _unguarded(root: Path) -> Iterator[Diagnostic]:
    """Data, and the key that reads it, may not go with a plan; no plan says whether they may."""
    blocks = [m for file in sorted(root.glob("*.tf")) for m in _RESOURCE.finditer(file.read_text(encoding="utf-8", errors="replace"))]
    for block in blocks:
        if block["of"] in _KEPT and not re.search(r"^    prevent_destroy = true$", block["body"], re.MULTILINE):
            why = f"{root.name}: {block['type']}.{block['name']} has no prevent_destroy: a plan could take the data of the cluster"
            yield finding("plan-not-of-design", why, ("sites", root.name))


def _flat(text: str) -> str:
    return " ".join(text.split())
