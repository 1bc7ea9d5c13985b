"""Runs the steps of a composite action as GitHub's runner does, but for those that use another action.

Expressions are evaluated as far as this project's need them; one that is not understood is an error, never an empty string.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TOKEN = re.compile(r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<sign>==|!=|&&)|(?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*))")
SIGNS = ("&&", "!=", "==")  # loosest first, but for the last two, which never meet
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "GITHUB_", "GIT_", "IACGEN_"))}


def evaluate(expression: str, contexts: Mapping[str, Any]) -> object:
    """The value of what stands between ``${{`` and ``}}``: names, quoted text, ``==``, ``!=``, ``&&``."""
    parts, at = [], 0
    while expression[at:].strip():
        found = TOKEN.match(expression, at)
        assert found, f"not understood: {expression[at:]!r} in {expression!r}"
        parts.append(found)
        at = found.end()
    return _value([(p.lastgroup, p[p.lastgroup]) for p in parts], contexts)


def _value(parts: list[tuple[str, str]], contexts: Mapping[str, Any]) -> object:
    for sign in SIGNS:
        if ("sign", sign) in parts:
            at = parts.index(("sign", sign))
            left, right = _value(parts[:at], contexts), _value(parts[at + 1 :], contexts)
            return (left and right) if sign == "&&" else (left == right) == (sign == "==")
    assert len(parts) == 1, parts
    kind, word = parts[0]
    if kind == "text":
        return word[1:-1].replace("''", "'")
    head, *rest = word.split(".")
    value = contexts[head]  # a context that is not there is a mistake, a key within one is empty
    for key in rest:
        value = value.get(key, "") if isinstance(value, Mapping) else ""
    return value


def filled(text: str, contexts: Mapping[str, Any]) -> str:
    """Text with each expression replaced by its value."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(evaluate(m[1], contexts)), text)


@dataclass
class Done:
    """What a run left behind."""

    failed: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def run(action: Mapping[str, Any], inputs: Mapping[str, str], github: Mapping[str, Any], env: Mapping[str, str], work: Path, outcomes: Mapping[str, str], leave: tuple[str, ...] = ()) -> Done:
    """Every step in order. ``outcomes`` are those of steps that use another action, ``leave`` the ids of steps that are not to run."""
    defaults = {name: filled(spec.get("default", ""), {"github": github}) for name, spec in action["inputs"].items()}
    assert inputs.keys() <= defaults.keys()
    steps: dict[str, dict[str, Any]] = {}
    contexts = {"inputs": defaults | dict(inputs), "github": github, "steps": steps, "runner": {"temp": env["RUNNER_TEMP"]}}
    done = Done()
    for step in action["runs"]["steps"]:
        id, name = step.get("id", ""), step["name"]
        if done.failed or id in leave or ("if" in step and not evaluate(step["if"], contexts)):
            steps[id] = {"outputs": {}, "outcome": "skipped"}
        elif "uses" in step:
            steps[id] = {"outputs": {}, "outcome": outcomes.get(id, "success"), "with": {k: filled(str(v), contexts) for k, v in step["with"].items()}}
            done.used.append(step["uses"].partition("@")[0])
        else:
            values = {k: filled(v, contexts) for k, v in step.get("env", {}).items()}
            code, outputs = _script(step["run"], ENVIRONMENT | dict(env) | values, work, done)
            steps[id] = {"outputs": outputs, "outcome": "failure" if code else "success"}
            done.ran.append(name)
            done.failed += [name] if code and not step.get("continue-on-error") else []
    done.outputs = {name: filled(spec["value"], contexts) for name, spec in action["outputs"].items()}
    return done


def _script(script: str, env: Mapping[str, str], work: Path, done: Done) -> tuple[int, dict[str, str]]:
    """One step by ``shell: bash``, with files of its own for its outputs and its part of the summary."""
    folder = Path(env["RUNNER_TEMP"])
    files = {name: folder / f"_{name}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("", encoding="utf-8")
    (folder / "_script.sh").write_text(script, encoding="utf-8")
    words = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(folder / "_script.sh")]
    result = subprocess.run(words, cwd=work, env=dict(env) | {k: str(v) for k, v in files.items()}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    done.log += result.stdout
    done.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    return result.returncode, dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines())
