"""The typer application: parses and hands over; each command imports its work when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from .exit import Format

app = typer.Typer(
    name="iacgen",
    help="One typed blueprint of an LLM-training cluster in, every file that builds and runs it out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
)

BlueprintFile = Annotated[Path, typer.Argument(help="The blueprint, a YAML file; - reads standard input.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"iacgen {__version__}")
        raise typer.Exit


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", callback=_version, is_eager=True)] = False) -> None:
    pass


@app.command()
def generate(
    blueprint: BlueprintFile,
    out: Annotated[Path, typer.Option("--out", help="Folder that takes the output folder, which is named after the cluster.")] = Path("out"),
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when the folder is not what would be written.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite managed files that were edited by hand.")] = False,
) -> None:
    """Check the blueprint and write all its files."""
    from .generate import generate as command

    command(blueprint, out, check, force)


@app.command()
def check(blueprint: BlueprintFile) -> None:
    """Say all that is wrong with a blueprint; write nothing."""
    from .check import check as command

    command(blueprint)


@app.command()
def verify(
    tree: Annotated[Path, typer.Argument(help="An output folder, such as out/lab.")],
    only: Annotated[list[str] | None, typer.Option("--only", help="Ask this judge alone; may be given again.")] = None,
    require: Annotated[bool, typer.Option("--require", help="Fail when a judge that this tree needs did not run.")] = False,
    format: Annotated[Format, typer.Option("--format", help="How to print the verdicts.")] = Format.text,
) -> None:
    """Hand the files to the real programs that will read them."""
    from .verify import verify as command

    command(tree, only or [], require, format)


@app.command()
def catalog(
    words: Annotated[list[str] | None, typer.Argument(help="An id, or words to search for.")] = None,
    format: Annotated[Format, typer.Option("--format", help="How to print the entries.")] = Format.text,
) -> None:
    """List what the catalog knows, or show one entry with its sources."""
    from .catalog import catalog as command

    command(words or [], format)
