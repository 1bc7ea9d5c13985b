"""``iacgen place``: the order of each job's ranks, what it costs and how far from the best it is."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from .choices import Profile
from .complete import TOPOLOGIES
from .exit import CLEAN, FINDINGS, Format, cannot
from .read import contents, print_findings, run_blueprint
from .wait import waiting

if TYPE_CHECKING:
    from ..diagnostics import Diagnostic
    from ..ordering import Ordering, Source
    from ..output import WriteRefused
    from ..pipeline import Run
    from ..training import Job


LIMIT_S = 60.0  # of the solver's work, about as many of one processor


@dataclass(frozen=True)
class Asked:
    """What the options say."""

    blueprint: Path
    over: Sequence[Path] = ()
    sets: Sequence[str] = ()
    job: str | None = None
    down: Sequence[str] = ()
    topology: Sequence[Path] = ()
    topology_format: str | None = None
    names: Path | None = None
    fabric: str | None = None
    oversubscription: Sequence[str] = ()
    prove: bool = False
    limit: float | None = None
    output: Path | None = None
    block_sizes: str | None = None
    picture: Path | None = None
    max_ratio: float | None = None
    format: Format = Format.text
    profile: Profile = Profile.production


def place(asked: Asked) -> NoReturn:
    """Print it; exit 1 when a file has errors, a job finds no place, or one costs more than ``max_ratio`` times its bound; 2 when a file
    cannot be read, or what is asked for does not fit the cluster."""
    from ..diagnostics import errors
    from ..ordering import NoGround, Wish, ordered

    block_sizes = _block_sizes(asked)
    wish = Wish(tuple(dict.fromkeys(asked.down)), asked.fabric, _ratios(asked), _limit(asked))
    state = run_blueprint(asked.blueprint, asked.over, asked.sets, asked.profile, placed=False)
    if errors(state.findings) or state.design is None or state.blueprint is None:
        _refuse(state, asked.format)
    jobs = _jobs(state, asked.job)
    state, found = _found(state, asked)
    try:
        with waiting("placing the ranks ..."):
            orderings, findings = ordered(state.design, jobs, {name: state.blueprint.training[name].nodes for name in jobs}, found, wish)
    except (NoGround, ImportError) as error:
        cannot(str(error))
    if findings:
        _refuse(state, asked.format, findings)
    if asked.output:
        _write(state, orderings, asked.output, block_sizes)
    if asked.picture:
        _draw(state, orderings, asked.picture)
    _print(state, orderings, asked.format)
    above = [o for o in orderings if asked.max_ratio is not None and o.placement.ratio > asked.max_ratio and not o.placement.proved]
    for o in above:
        print(f"iacgen: {o.job.name} costs {o.placement.ratio:.4f} times its bound; {asked.max_ratio:g} times is the most that was asked for", file=sys.stderr)
    sys.exit(FINDINGS if above else CLEAN)


def _limit(asked: Asked) -> float | None:
    """Seconds of its work that the exact solver may take; None where it is not asked."""
    if asked.limit is not None and not asked.prove:
        cannot("--limit says how long --prove may take; without it no solver is asked")
    if asked.prove and asked.down:
        cannot("--prove looks for another order and --down keeps the one that runs: give one of them")
    for option, number in (("--limit", asked.limit), ("--max-ratio", asked.max_ratio)):
        if number is not None and not math.isfinite(number):
            cannot(f"{option} {number:g}: write a finite number")
    return (LIMIT_S if asked.limit is None else asked.limit) if asked.prove else None


def _print(state: Run, orderings: Sequence[Ordering], format: Format) -> None:
    from ..ordering import data, text

    if format is Format.json:
        print(json.dumps(data(state.design.name, orderings), indent=1))
    else:
        for line in text(orderings):
            print(line)


def _block_sizes(asked: Asked) -> tuple[int, ...]:
    """The sizes of ``2,4``; none where they are to be computed."""
    if asked.block_sizes is None:
        return ()
    if not asked.output:
        cannot("--block-sizes are those of Slurm's blocks in the files of --output; none are written")
    sizes = asked.block_sizes.split(",")
    if not all(size.isascii() and size.isdigit() and 0 < len(size) < 7 for size in sizes):
        cannot(f"--block-sizes {asked.block_sizes}: write whole numbers, such as 18,36")
    return tuple(map(int, sizes))


def _write(state: Run, orderings: Sequence[Ordering], folder: Path, block_sizes: Sequence[int]) -> None:
    """The orders as files, once each says what was meant."""
    from ..ordering import MARK, NoGround, faults, files
    from ..output import OutputError, WriteRefused, apply, owned, plan, read

    try:
        owned(folder, MARK)
        if (other := _cluster(folder / MARK)) not in (None, state.design.name):
            cannot(f"nothing was written: {folder} holds the orders of cluster {other}; name another folder, or delete this one")
        tree = files(state.design, orderings, block_sizes)
        if wrong := list(faults(state.design, orderings, tree)):
            cannot("nothing was written: the files would not say what was placed, which is a fault of iacgen: " + "; ".join(wrong[:5]))
        apply(plan(tree, folder), folder)
        if read(folder) != tree:
            cannot(f"{folder} does not hold what was written there: somebody else writes to it")
    except NoGround as error:
        cannot(f"nothing was written: {error}")
    except WriteRefused as error:
        cannot("; ".join(_hindrances(folder, error)))
    except OutputError as error:
        cannot(f"nothing was written: {str(error).removeprefix('nothing was written: ')}")
    except OSError as error:
        cannot(f"cannot write {error.filename or folder}: {error.strerror}")
    print(f"{folder}: {len(tree)} files, read back: they say what is printed here", file=sys.stderr)


def _hindrances(folder: Path, refused: WriteRefused) -> list[str]:
    """What stands in the way in the folder of ``--output``, and what to do there."""
    if edited := refused.edited:
        return [f"nothing was written: {', '.join(edited)} in {folder} {'was' if len(edited) == 1 else 'were'} edited by hand: move {'it' if len(edited) == 1 else 'them'} away, or name another folder"]
    return [str(refused)]


def _cluster(mark: Path) -> str | None:
    """Whose orders lie in a folder, by its ``placement.json``; None where that is not there, or does not say it any more."""
    try:
        said = json.loads(contents(mark, 1 << 28)[0])
    except (OSError, ValueError, RecursionError):
        return None
    name = said.get("cluster") if isinstance(said, dict) else None
    return name if isinstance(name, str) else None


def _draw(state: Run, orderings: Sequence[Ordering], file: Path) -> None:
    """The drawing of the one order that there is, in a new file."""
    from ..ordering import picture
    from ..output import OutputError, create

    if len(orderings) > 1:
        cannot(f"a picture shows one job: say which with --job; there is {', '.join(o.job.name for o in orderings)}")
    try:
        create(file, picture(state.design, orderings[0]))
    except OutputError as error:
        cannot(str(error))
    except OSError as error:
        cannot(f"cannot write {file}: {error.strerror}")


def _ratios(asked: Asked) -> dict[str, float]:
    """Tier → ratio, of ``leaf=2``."""
    out = {}
    for said in asked.oversubscription:
        tier, _, ratio = said.partition("=")
        if tier in out:
            cannot(f"--oversubscription {said}: {tier} has a ratio already, {out[tier]:g}; give one")
        try:
            out[tier] = float(ratio)
        except ValueError:
            out[tier] = 0.0
        if not 1 <= out[tier] < 1e6:
            cannot(f"--oversubscription {said}: write a tier and a ratio from 1 on, such as leaf=2")
    if not asked.topology and (out or asked.fabric or asked.names or asked.topology_format):
        cannot("--fabric, --names, --topology-format and --oversubscription say more of the files of --topology; there is none")
    return out


def _found(state: Run, asked: Asked) -> tuple[Run, list[Source] | None]:
    """The fabrics of the files of ``--topology``, None where none is asked for, with a run that knows their texts; what is worth a warning is told
    on standard error."""
    from ..diagnostics import errors
    from ..diagnostics.text import render_text
    from ..ordering import sources

    if not asked.topology:
        return state, None
    if asked.topology_format not in (None, *TOPOLOGIES):
        cannot(f"--topology-format {asked.topology_format}: no such kind; there is {', '.join(TOPOLOGIES)}")
    resolved = [path.resolve() for path in asked.topology]
    if twice := [path for n, path in enumerate(asked.topology) if resolved[n] in resolved[:n]]:
        cannot(f"--topology {twice[0]}: given twice; a second file is for another rail or fabric")
    files = [_bytes(path) for path in asked.topology]
    names = _bytes(asked.names) if asked.names else None
    found, findings = sources(files, asked.topology_format, names)
    texts = {name: raw.decode("utf-8", "replace") for raw, name in [*files, *([names] if names else [])]}
    state = replace(state, document=replace(state.document, others={**state.document.others, **texts}))
    if errors(findings):
        _refuse(state, asked.format, findings)
    if findings:
        print(render_text(findings, state.document), end="\n\n", file=sys.stderr)
    return state, found


def _bytes(path: Path) -> tuple[bytes, str]:
    """The bytes of a file of the topology, not many more than one may have, and its name in messages; leaves with 2 when it cannot be read."""
    from ..ordering import MAX_BYTES

    try:
        return contents(path, MAX_BYTES)
    except OSError as error:
        cannot(f"cannot read {path}: {error.strerror}")


def _jobs(state: Run, name: str | None) -> Mapping[str, Job]:
    """All jobs, or the one that was asked for."""
    if not state.jobs:
        cannot("there is no job in this blueprint: nothing to place")
    if name is not None and name not in state.jobs:
        cannot(f"there is no job {name}; there is {', '.join(state.jobs)}")
    return state.jobs if name is None else {name: state.jobs[name]}


def _refuse(state: Run, format: Format, found: Sequence[Diagnostic] = ()) -> NoReturn:
    """The findings, in the form of ``check``, in place of an order."""
    from ..diagnostics.json import render
    from ..diagnostics.report import gather

    state = replace(state, findings=(*state.findings, *found))
    if format is Format.json:
        print(render([gather(state.findings, state.document, state.suppressed)], state.profile))
    else:
        print_findings(state)
    print(f"{state.document.name}: no rank was placed", file=sys.stderr)
    sys.exit(FINDINGS)
