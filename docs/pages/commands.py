"""``docs/commands.md``: every command with its arguments and options, read out of the typer application."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main

from iacgen.cli.app import app

PLAIN = {"str": "text", "int": "whole number"}
HEAD = """\
# Commands

<!-- docs/generate.py writes this page out of iacgen/cli/app.py. -->

Results go to stdout, progress and log to stderr. Exit codes: 0 clean, 1 findings or drift, 2 could not do the job, 130 interrupted.
`iacgen --install-completion` makes the tab key complete commands, options, blueprints, findings and catalog ids.
"""


def page(_: str) -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    return "\n".join([HEAD, *_section("iacgen", root), *(line for name, command in root.commands.items() for line in _section(f"iacgen {name}", command))]).rstrip() + "\n"


def _section(title: str, command: Any) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    if not hasattr(command, "commands"):
        yield command.help
        yield ""
        yield f"`{title} {' '.join(_usage(command))}`".replace(" `", "`")
        yield ""
    rows = [_row(param) for param in command.params]
    if rows:
        yield "| argument or option | takes | default | does |"
        yield "|---|---|---|---|"
        yield from rows
        yield ""


def _usage(command: Any) -> Iterator[str]:
    if any(param.param_type_name == "option" for param in command.params):
        yield "[OPTIONS]"
    for param in command.params:
        if param.param_type_name == "argument":
            name = param.name.upper() + ("..." if param.nargs == -1 else "")
            yield name if param.required else f"[{name}]"


def _row(param: Any) -> str:
    argument = param.param_type_name == "argument"
    name = param.name.upper() if argument else ", ".join(param.opts)
    if argument:
        takes = ("one or more" if param.required else "any number") if param.nargs == -1 else ""
    else:
        takes = "" if param.is_flag else ", ".join(f"`{c}`" for c in param.type.choices) if hasattr(param.type, "choices") else PLAIN.get(param.type.name, param.type.name)
    default = "required" if param.required else "" if param.default in (None, False, ()) else f"`{getattr(param.default, 'value', param.default)}`"
    cells = (f"`{name}`", takes, default, param.help or "")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
