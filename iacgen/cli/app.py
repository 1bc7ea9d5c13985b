"""The typer application: parses and hands over; each command imports its work when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from . import complete
from .choices import ComputeFabric, Drawn, FailOn, FindingFormat, Profile, ReviewFormat, SiteKind, Verdict
from .exit import Format, PageFormat

app = typer.Typer(
    name="iacgen",
    help="One typed blueprint of an LLM-training cluster in, every file that builds and runs it out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
)

BlueprintFile = Annotated[Path, typer.Argument(help="The blueprint, a YAML file; - reads standard input.", autocompletion=complete.blueprints)]
ProfileOption = Annotated[Profile, typer.Option("--profile", help="How strictly to judge: what is a warning in production may be fine in a lab.")]
OverOption = Annotated[list[Path] | None, typer.Option("-f", "--file", help="A file with some of the keys, laid over the blueprint; may be given again, later ones win.", autocompletion=complete.blueprints)]
SetOption = Annotated[list[str] | None, typer.Option("--set", help="One value, such as nodes.gpu.count=64, laid over the files; null takes a key away; may be given again.")]


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
    over: OverOption = None,
    sets: SetOption = None,
    out: Annotated[Path, typer.Option("--out", help="Folder that takes the output folder, which is named after the cluster; this one may be a link to a folder, nothing below it may.")] = Path("out"),
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when the folder is not what would be written.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite managed files that were edited by hand.")] = False,
    profile: ProfileOption = Profile.production,
) -> None:
    """Check the blueprint and write all its files."""
    from .generate import generate as command

    command(blueprint, over or [], sets or [], out, check, force, profile)


@app.command()
def check(
    blueprints: Annotated[list[Path], typer.Argument(help="The blueprints, YAML files; - reads standard input.", autocompletion=complete.blueprints)],
    over: OverOption = None,
    sets: SetOption = None,
    format: Annotated[FindingFormat, typer.Option("--format", help="How to print the findings.")] = FindingFormat.text,
    profile: ProfileOption = Profile.production,
    select: Annotated[list[str] | None, typer.Option("--select", help="Show only these findings: ids, names, or beginnings of ids such as IAC2; may be given again.", autocompletion=complete.findings)] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="Do not show these findings; may be given again.", autocompletion=complete.findings)] = None,
    fail_on: Annotated[FailOn | None, typer.Option("--fail-on", help="Least severity that makes the exit code 1: by default error, with SARIF never.")] = None,
) -> None:
    """Say all that is wrong with blueprints; write nothing."""
    from .check import check as command

    command(blueprints, over or [], sets or [], format, profile, select or [], ignore or [], fail_on)


@app.command()
def resolve(
    blueprint: BlueprintFile,
    over: OverOption = None,
    sets: SetOption = None,
    format: Annotated[Format, typer.Option("--format", help="How to print it.")] = Format.text,
    profile: ProfileOption = Profile.production,
) -> None:
    """Print the effective blueprint, with the origin of each value."""
    from .resolve import resolve as command

    command(blueprint, over or [], sets or [], format, profile)


@app.command()
def draw(
    blueprint: BlueprintFile,
    over: OverOption = None,
    sets: SetOption = None,
    what: Annotated[Drawn, typer.Option("--what", help="A fabric by tiers, one rail of it, the racks of a hall with their power, or the ranks of a job on their hosts.")] = Drawn.fabric,
    fabric: Annotated[str | None, typer.Option("--fabric", help="Which fabric; by default the first that carries computation.")] = None,
    rail: Annotated[int, typer.Option("--rail", help="Which rail, from 1.", min=1)] = 1,
    site: Annotated[str | None, typer.Option("--site", help="The racks of which site; by default the first that has racks.")] = None,
    job: Annotated[str | None, typer.Option("--job", help="The ranks of which job; by default the only one.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file for the drawing; it is printed by default.")] = None,
    profile: ProfileOption = Profile.production,
) -> None:
    """Draw a fabric, a rail, the racks or the ranks of a job as SVG."""
    from .draw import draw as command

    command(blueprint, over or [], sets or [], what, {Drawn.racks: site, Drawn.placement: job}.get(what, fabric), rail, output, profile)


@app.command()
def place(
    blueprint: BlueprintFile,
    over: OverOption = None,
    sets: SetOption = None,
    job: Annotated[str | None, typer.Option("--job", help="Which job; by default all.")] = None,
    down: Annotated[list[str] | None, typer.Option("--down", help="A host that fails under the order: the smallest change, and what it costs; may be given again.")] = None,
    topology: Annotated[list[Path] | None, typer.Option("--topology", help="A file that tells the fabric which exists, in place of the planned one; may be given again, for rails or further fabrics.")] = None,
    topology_format: Annotated[str | None, typer.Option("--topology-format", help="What made that file; by default its content tells.", autocompletion=complete.topologies)] = None,
    names: Annotated[Path | None, typer.Option("--names", help="A file that gives the ids of that file the names of hosts: describe-instances of AWS, or lines with an id and a name.")] = None,
    fabric: Annotated[str | None, typer.Option("--fabric", help="Which of the fabrics of that file, where several join hosts of the pool.")] = None,
    oversubscription: Annotated[list[str] | None, typer.Option("--oversubscription", help="What may leave the groups of a tier of that fabric, such as leaf=2: what its hosts send, over so many; may be given again.")] = None,
    prove: Annotated[bool, typer.Option("--prove", help="Ask an exact solver for a better order or the proof that there is none, where counting has not proved it: for jobs of some hundred hosts.")] = False,
    limit: Annotated[float | None, typer.Option("--limit", help="Seconds of work, on one processor, that the solver may take; 60 by default.", min=0.001)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder, new or empty or written by this command, for the order in the form of each launcher, and for the topology in that of Slurm.")] = None,
    block_sizes: Annotated[str | None, typer.Option("--block-sizes", help="Sizes of Slurm's blocks in these files, such as 18,36, in place of computed ones.")] = None,
    picture: Annotated[Path | None, typer.Option("--picture", help="New file for a drawing (SVG) of one job: hosts by switch, in the hue of their stage and the shade of their replica.")] = None,
    max_ratio: Annotated[float | None, typer.Option("--max-ratio", help="Exit 1 when an order costs more than so many times what no order can beat.", min=1)] = None,
    format: Annotated[Format, typer.Option("--format", help="How to print the orders.")] = Format.text,
    profile: ProfileOption = Profile.production,
) -> None:
    """Say which rank runs where, what that costs and how far from the best it is."""
    from .place import Asked
    from .place import place as command

    found = {"topology": topology or [], "topology_format": topology_format, "names": names, "fabric": fabric, "oversubscription": oversubscription or []}
    command(Asked(blueprint, over or [], sets or [], job, down or [], **found, prove=prove, limit=limit, output=output, block_sizes=block_sizes, picture=picture, max_ratio=max_ratio, format=format, profile=profile))


@app.command()
def review(
    old: Annotated[str, typer.Argument(help="The former state: a blueprint, a folder of blueprints, an output folder, or a Git revision, alone or as REVISION:PATH.")],
    new: Annotated[str, typer.Argument(help="The state to come, of the same kind; a revision beside a path means that path at the revision.")],
    format: Annotated[ReviewFormat, typer.Option("--format", help="How to print it; markdown stays below the size of a comment on GitHub.")] = ReviewFormat.text,
    fail_on: Annotated[Verdict | None, typer.Option("--fail-on", help="Exit 1 when the change asks for this of the running cluster, or for worse; never by default.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file for the review; it is printed by default.")] = None,
    profile: ProfileOption = Profile.production,
) -> None:
    """Say what a change of blueprints does to the clusters that run: what breaks, what to do, what the figures become."""
    from .review import review as command

    command(old, new, format, profile, fail_on, output)


@app.command()
def verify(
    tree: Annotated[Path, typer.Argument(help="An output folder, such as out/lab.")],
    only: Annotated[list[str] | None, typer.Option("--only", help="Ask this judge alone; may be given again.")] = None,
    require: Annotated[bool, typer.Option("--require", help="Fail when a judge that this tree needs did not run or left a part out, or a file was edited or is gone.")] = False,
    format: Annotated[Format, typer.Option("--format", help="How to print the verdicts.")] = Format.text,
    edited: Annotated[bool, typer.Option("--edited", help="Judge files that somebody changed as they are: the programs run what is in them.")] = False,
) -> None:
    """Hand the files to the real programs that will read them."""
    from .verify import verify as command

    command(tree, only or [], require, format, edited)


@app.command()
def catalog(
    words: Annotated[list[str] | None, typer.Argument(help="An id, or words to search for.", autocompletion=complete.catalog_ids)] = None,
    format: Annotated[Format, typer.Option("--format", help="How to print the entries.")] = Format.text,
) -> None:
    """List what the catalog knows, or show one entry with its sources."""
    from .catalog import catalog as command

    command(words or [], format)


@app.command()
def explain(
    finding: Annotated[str | None, typer.Argument(help="Id or name of a finding; all are listed without one.", autocompletion=complete.findings)] = None,
    format: Annotated[PageFormat, typer.Option("--format", help="How to print the page.")] = PageFormat.text,
) -> None:
    """Say why a finding is made, with a bad and a good example."""
    from .explain import explain as command

    command(finding, format)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the blueprint, for editors."""
    from .schema import schema as command

    command()


@app.command()
def init(
    system: Annotated[str, typer.Option("--system", help="Catalog id of the GPU machine, such as dgx-h100 or p5.48xlarge.", autocompletion=complete.systems)],
    nodes: Annotated[int, typer.Option("--nodes", help="How many of them.", min=1)],
    site: Annotated[SiteKind | None, typer.Option("--site", help="Where they stand; the system tells by default.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the cluster; system and count by default.")] = None,
    fabric: Annotated[ComputeFabric | None, typer.Option("--fabric", help="What the GPUs of a hall of one's own talk over; by default what the system is sold with.")] = None,
    job: Annotated[str | None, typer.Option("--job", help="Catalog id of the model to train; by default the Llama 3 that so many GPUs train in a month.", autocompletion=complete.models)] = None,
    capacity: Annotated[str | None, typer.Option("--capacity", help="Id of the capacity block or reservation that machines of a cloud are taken from; from eight on it is needed.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="New file for the blueprint; it is printed by default.")] = None,
) -> None:
    """Write a first blueprint, with comments, if check finds nothing in it: for systems with GPUs whose ports the catalog names."""
    from .init import init as command

    wish = {"system": system, "nodes": nodes, "site": site and site.value, "name": name, "fabric": fabric and fabric.value, "job": job, "capacity": capacity}
    command(wish, output)
