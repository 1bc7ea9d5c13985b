"""Taking things from the catalog: by id, lazily, with help for a misspelling and a clear word for a broken file."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from iacgen import catalog
from iacgen.catalog import shelves


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the catalog files that are read from here on."""
    names: list[str] = []
    true_read = shelves.read

    def recording(path: Path, type_: type) -> catalog.Entry:
        names.append(f"{path.parent.name}/{path.name}")
        return true_read(path, type_)

    monkeypatch.setattr(shelves, "read", recording)
    shelves.take.cache_clear()
    shelves.ids.cache_clear()
    return names


def test_listing_reads_nothing_and_taking_reads_one_file_once(reads: list[str]):
    assert "h200" in catalog.ids("gpus")
    assert [] == reads
    assert catalog.gpu("h200") is catalog.gpu("h200")
    assert ["gpus/h200.yaml"] == reads


def test_each_function_takes_from_its_own_shelf():
    taken = [
        catalog.gpu("b200"),
        catalog.tpu("tpu-v5p"),
        catalog.system("p5.48xlarge"),
        catalog.nic("connectx-7-400g"),
        catalog.switch("qm9700"),
        catalog.cable("400g-dac"),
        catalog.model("llama-3.1-405b"),
        catalog.cloud("aws"),
    ]
    assert ["gpu", "tpu", "system", "nic", "switch", "cable", "model", "cloud"] == [entry.kind for entry in taken]


@pytest.mark.parametrize(
    ("take", "id", "kind", "nearest"),
    [
        (catalog.gpu, "h100-smx", "gpus", "h100-sxm"),
        (catalog.tpu, "tpu-v6", "tpus", "tpu-v6e"),
        (catalog.system, "DGX-H100", "systems", "dgx-h100"),
        (catalog.system, "p5.48xlage", "systems", "p5.48xlarge"),
        (catalog.model, "llama-3-405b", "models", "llama-3.1-405b"),
        (catalog.switch, "sn-5600", "switches", "sn5600"),
    ],
)
def test_an_unknown_id_names_the_nearest_spelling_first(take, id: str, kind: str, nearest: str):
    with pytest.raises(catalog.UnknownEntry) as caught:
        take(id)
    assert (kind, id) == (caught.value.kind, caught.value.id)
    assert nearest == caught.value.suggestions[0]
    assert f"did you mean {nearest}" in str(caught.value)


@pytest.mark.parametrize("id", ["", "zzz", "../models/llama-3-8b", "/etc/passwd", "h200.yaml"])
def test_an_id_is_never_a_path(id: str, reads: list[str]):
    with pytest.raises(catalog.UnknownEntry):
        catalog.gpu(id)
    assert [] == reads


def test_cables_of_one_speed_are_found_without_reading_the_others(reads: list[str]):
    assert {400} == {cable.gbps for cable in catalog.cables(400)}
    assert reads and all(name.startswith("cables/400g-") for name in reads)
    assert () == catalog.cables(401)


def test_a_kind_that_does_not_exist_is_a_fault_of_the_caller():
    with pytest.raises(KeyError):
        catalog.entries("asics")


def test_search_wants_every_word_in_any_case():
    found = [entry.id for entry in catalog.search("NVIDIA h100")]
    assert "h100-sxm" in found and "dgx-h100" in found
    assert "dgx-b200" not in found and "llama-3-8b" not in found
    assert () == catalog.search("no such thing")


def test_an_entry_is_frozen_and_can_be_a_key():
    system = catalog.system("dgx-h100")
    with pytest.raises(ValidationError):
        system.gpus = 4
    assert "rail" == {system: "rail"}[catalog.system("dgx-h100")]
    assert hash(system) != hash(catalog.system("dgx-h200"))


ENTRY = """\
kind: nic
id: card
name: Card
vendor: somebody
port_gbps: 100
ports: 1
rdma: true
technologies: [roce]
sources: [{figures: [port_gbps, ports, rdma, technologies], where: data sheet, date: 2024-11-27}]
"""


def written(folder: Path, text: str, name: str = "card.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_date_may_stand_without_quotes(tmp_path: Path):
    assert "2024-11-27" == shelves.read(written(tmp_path, ENTRY), catalog.Nic).sources[0].date


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("ports: 1", "portz: 1", "portz"),
        ("port_gbps: 100", "port_gbps: 0", "greater than 0"),
        ("date: 2024-11-27", "date: last week", "date"),
        (", date: 2024-11-27", "", "date"),
        ("where: data sheet, ", "", "where"),
        ("sources: [", "sources: []  # [", "sources"),
        ("kind: nic", "kind: gpu", "'nic'"),
        ("[roce]", "[token-ring]", "technologies"),
        ("id: card", "id: other", "must have the same name"),
        ("ports: 1", "ports: 1\nports: 2", "duplicate"),
        ("name: Card", "name: [", "catalog file"),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path: Path, old: str, new: str, complaint: str):
    assert old in ENTRY
    with pytest.raises(catalog.BrokenEntry, match="card.yaml") as caught:
        shelves.read(written(tmp_path, ENTRY.replace(old, new, 1)), catalog.Nic)
    assert complaint in str(caught.value)


def test_a_file_that_is_not_text_or_not_there_is_broken_too(tmp_path: Path):
    binary = tmp_path / "card.yaml"
    binary.write_bytes(b"\xff\xfe\x00kind")
    for path in (binary, tmp_path / "absent.yaml"):
        with pytest.raises(catalog.BrokenEntry):
            shelves.read(path, catalog.Nic)
