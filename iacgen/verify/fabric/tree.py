"""What an output tree says of one fabric: its cable lists as links, and the files of its subnet manager."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .plan import Link, Plan
from .settings import Script, Settings, parse, planned

MANAGERS = ("plan.csv", "opensm.conf", "partitions.conf", "guids.sh")  # of several subnets in a folder for each
READS = ("cables.csv", "hca-map.csv", "p2p.csv", "ports.csv", "ranks.txt", *MANAGERS)
_COLUMNS = {
    "cables.csv": ("A-Node Name", "A-Type", "A-Port", "Z-Node Name", "Z-Port"),
    "p2p.csv": ("a_device", "a_type", "a_port", "z_device", "z_port"),
    "ports.csv": ("switch", "port"),
    "hca-map.csv": ("port", "hca-name"),
}
_ETC = "/etc/opensm"


class ListError(Exception):
    """A list that its reader cannot read: the message names file and fault."""


@dataclass(frozen=True)
class Lists:
    """The links of the two cable lists: the one that UFM's cable validation reads, and the one for people."""

    cables: tuple[Link, ...]
    p2p: tuple[Link, ...]


def lists(folder: Path) -> Lists:
    """The cable lists of ``fabric/<name>``. Raises ListError."""
    numbers: dict[tuple[str, str], int] = {}
    seen: dict[str, int] = {}
    for row in _rows(folder, "ports.csv"):
        seen[row["switch"]] = numbers[row["switch"], row["port"]] = seen.get(row["switch"], 0) + 1
    devices = {row["port"]: row["hca-name"] for row in _rows(folder, "hca-map.csv")} if (folder / "hca-map.csv").exists() else {}

    def port(file: str, switch: str, name: str) -> int:
        if (switch, name) not in numbers:
            raise ListError(f"{folder.name}/{file}: {switch} has no port {name} in ports.csv")
        return numbers[switch, name]

    def link(file: str, host: bool, a: str, a_port: str, b: str, b_port: str) -> Link:
        end = (f"{a} {a_port}", 1) if host else (a, port(file, a, a_port))
        return Link(*end, b, port(file, b, b_port))

    def device(row: dict[str, str]) -> str:
        return devices.get(row["A-Port"], row["A-Port"]) if row["A-Type"] == "Host" else row["A-Port"]

    cables = (link("cables.csv", row["A-Type"] == "Host", row["A-Node Name"], device(row), row["Z-Node Name"], row["Z-Port"]) for row in _rows(folder, "cables.csv"))
    people = (link("p2p.csv", row["a_type"] == "host", row["a_device"], row["a_port"], row["z_device"], row["z_port"]) for row in _rows(folder, "p2p.csv"))
    return Lists(tuple(cables), tuple(people))


def settings(folder: Path, name: str, plan: Plan, own: bool) -> Settings:
    """opensm's files for the subnet ``name`` as the tree has them: it has its own where opensm manages the fabric, and else an engine of opensm stands in for
    the product that does. Raises ListError."""
    if not own:
        return planned(plan, plan.engine, lanes=plan.family != "tree", computes=True)
    files = {f"{_ETC}/{name}-partitions.conf": _text(folder, "partitions.conf")}
    script = Script(_text(folder, "guids.sh"), _text(folder, "plan.csv"), f"{_ETC}/{name}")
    return Settings(parse(_text(folder, "opensm.conf")), files, script)


def ranks(tree: Path, name: str, job: str | None) -> tuple[str, ...]:
    """The hosts in the order of ranks that the tree has: in the file by which a job is started, else in that of the fabric. Raises ListError."""
    text = _text(tree / "training" / job, "hostfile") if job else _text(tree / "fabric" / name, "ranks.txt")
    return tuple(words[0] for line in text.splitlines() if (words := line.partition("#")[0].split()))


def _rows(folder: Path, name: str) -> Iterator[dict[str, str]]:
    """The rows of a list that has the columns which are read here, each with a word in all of them."""
    reader = csv.DictReader(io.StringIO(_text(folder, name)), strict=True, restval="")
    try:
        if lacking := [column for column in _COLUMNS[name] if column not in (reader.fieldnames or ())]:
            raise ListError(f"{folder.name}/{name} has no column {', '.join(lacking)}")
        for row in reader:
            if not all(row[column] for column in _COLUMNS[name]):
                raise ListError(f"{folder.name}/{name}, line {reader.line_num}: a word is missing")
            yield row
    except csv.Error as error:
        raise ListError(f"{folder.name}/{name}, line {reader.line_num}: {error}") from None


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise ListError(f"{folder.name}/{name} is missing") from None
