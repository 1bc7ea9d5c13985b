"""Every figure of every catalog file says where it was read, and nothing unknown is dressed up as known."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from iacgen import catalog
from iacgen.catalog.shelves import DATA

FILES = sorted(DATA.glob("*/*.yaml"))
IDENTITY = {"kind", "id", "name", "vendor", "generic", "sources", "unknown"}


def load(path: Path) -> dict:
    return YAML(typ="safe", pure=True).load(path)


def leaves(value: object, path: str = "") -> dict[str, object]:
    """Figures of a file by dotted path; a list is one figure."""
    if isinstance(value, dict):
        return {p: v for key, sub in value.items() for p, v in leaves(sub, f"{path}.{key}" if path else str(key)).items()}
    return {path: value}


def figures(data: dict) -> dict[str, object]:
    return leaves({key: value for key, value in data.items() if key not in IDENTITY})


def covered(figure: str, named: set[str]) -> bool:
    """Whether a source names the figure or something above it."""
    parts = figure.split(".")
    return any(".".join(parts[:n]) in named for n in range(1, len(parts) + 1))


def named_by_sources(data: dict) -> set[str]:
    return {figure for source in data["sources"] for figure in source["figures"]}


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_figure_has_a_source(path: Path):
    data = load(path)
    known = {figure for figure, value in figures(data).items() if value is not None}
    assert [] == sorted(f for f in known if not covered(f, named_by_sources(data)))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_source_names_only_figures_that_are_there(path: Path):
    data = load(path)
    there = {".".join(f.split(".")[:n]) for f in figures(data) for n in range(1, f.count(".") + 2)}
    assert set() == named_by_sources(data) - there


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_null_is_unknown_with_a_reason_and_never_sourced(path: Path):
    data = load(path)
    nulls = {figure for figure, value in figures(data).items() if value is None}
    unknown = set(data.get("unknown", {}))
    assert nulls <= unknown
    assert nulls.isdisjoint(named_by_sources(data))
    assert unknown.isdisjoint({f for f, value in figures(data).items() if value not in (None, [])}), "known and unknown at once"


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_a_file_stays_small(path: Path):
    """Pure YAML reading costs about 10 ms for each 750 bytes."""
    assert path.stat().st_size < 4096


def test_coverage_reads_dotted_paths():
    data = {"kind": "system", "nics": {"compute": {"nic": "x", "count": 8}}, "power_kw": None}
    assert {"nics.compute.nic": "x", "nics.compute.count": 8, "power_kw": None} == figures(data)
    assert covered("nics.compute.nic", {"nics"}) and covered("nics.compute.nic", {"nics.compute.nic"})
    assert not covered("nics.compute.nic", {"nics.storage", "nic"})


def test_the_folder_holds_nothing_but_the_known_kinds():
    assert set(catalog.KINDS) == {path.name for path in DATA.iterdir()}
    assert [] == [str(p) for p in DATA.rglob("*") if p.is_file() and p.suffix != ".yaml"]


@pytest.mark.parametrize(
    ("kind", "ids"),
    {
        "gpus": {"a100-80", "h100-sxm", "h200", "b200", "b300", "gb200"},
        "systems": {
            "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "dgx-b300", "dgx-gb200", "hgx-h100", "hgx-b200", "generic-1u", "lustre-oss", "lustre-mds",
            "p5.48xlarge", "m7i.4xlarge",
        },
        "switches": {"qm8700", "qm9700", "qm9790", "q3400-ra", "sn2201", "sn3700c", "sn4600c", "sn5600", "sn5610", "arista-7060x6-64pe"},
        "nics": {"connectx-6-200g", "connectx-7-400g", "connectx-8-800g", "bluefield-3-400g-2p"},
        "models": {"llama-2-7b", "llama-2-70b", "llama-3-8b", "llama-3-70b", "llama-3.1-405b"},
        "cables": {"1g-twisted-pair", "100g-dac", "200g-aoc", "400g-dac", "400g-dac-splitter", "400g-acc", "400g-multimode", "400g-single-mode-100m", "800g-single-mode"},
        "clouds": {"aws"},
    }.items(),
)
def test_what_is_promised_is_there(kind: str, ids: set[str]):
    assert ids <= set(catalog.ids(kind))
