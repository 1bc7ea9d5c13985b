"""What a shell offers at the tab key. It is asked at every key press, so nothing heavy is imported: names of files tell most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_YAML = (".yaml", ".yml")
_CATALOG = Path(__file__).resolve().parents[1] / "catalog" / "data"
TOPOLOGIES = ("aws-instance-topology", "gcp-placement", "azure", "ibnetdiscover", "ufm", "netq", "slurm", "topology.yaml", "kubernetes", "topograph")
_KEY = re.compile(r"(?:^|[{,]) *([a-z_]+):(?: |$)", re.MULTILINE)


def findings(incomplete: str) -> Iterator[tuple[str, str]]:
    """Ids and names of findings, each with its sentence; ids once the word looks like one."""
    from ..explain import pages

    for page in pages():
        name = page.id if incomplete[:1].isupper() else page.slug
        if name.startswith(incomplete):
            yield name, page.summary


def catalog_ids(incomplete: str) -> Iterator[str]:
    """Ids of all things of the catalog."""
    return _starting(incomplete, "*/*.yaml")


def systems(incomplete: str) -> Iterator[str]:
    """Ids of the systems that ``init`` writes blueprints for: those with GPUs whose ports are those of a cloud or have names. The keys of
    their files tell; YAML is not read here."""
    for id in _starting(incomplete, "systems/*.yaml"):
        keys = set(_KEY.findall((_CATALOG / "systems" / f"{id}.yaml").read_text(encoding="utf-8")))
        if "gpu" in keys and keys & {"cloud", "rdma_names"}:
            yield id


def models(incomplete: str) -> Iterator[str]:
    """Ids of models."""
    return _starting(incomplete, "models/*.yaml")


def topologies(incomplete: str) -> Iterator[str]:
    """Kinds of files that tell a topology."""
    return (kind for kind in TOPOLOGIES if kind.startswith(incomplete))


def _starting(incomplete: str, pattern: str) -> Iterator[str]:
    names = sorted({file.name.removesuffix(".yaml") for file in _CATALOG.glob(pattern)})
    return (name for name in names if name.startswith(incomplete))


def blueprints(incomplete: str) -> Iterator[str]:
    """YAML files that begin like this, and those in folders that do: a shell would put a blank after the name of a folder."""
    head, slash, tail = incomplete.rpartition("/")
    for entry in _entries(Path((head or "/") if slash else ".")):
        shown = f"{head}{slash}{entry.name}"
        if not entry.name.startswith(tail) or entry.name.startswith(".") > tail.startswith("."):
            continue
        if entry.is_dir():
            yield from (f"{shown}/{inner.name}" for inner in _entries(entry) if inner.suffix in _YAML)
        elif entry.suffix in _YAML:
            yield shown


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
