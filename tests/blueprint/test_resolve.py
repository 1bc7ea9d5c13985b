"""The resolved blueprint is the same blueprint: as data, as the file in the tree, and whatever its quantities are."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import source
from iacgen.blueprint import parse, resolve
from iacgen.blueprint.sites import OnPremSite, Rack
from iacgen.blueprint.storage import Lustre
from iacgen.blueprint.training import Checkpoint
from iacgen.render import render

FILES = sorted((Path(__file__).parents[2] / "blueprints").glob("*.yaml"))


def typed(text):
    document, findings = source.read(text, "x.yaml")
    blueprint, more = parse(document.data)
    assert not findings and not more
    return blueprint


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_reads_back_as_the_same_blueprint(file):
    blueprint = typed(file.read_text(encoding="utf-8"))
    assert parse(resolve(blueprint)) == (blueprint, [])


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_the_file_of_the_tree_reads_back_too(file):
    blueprint = typed(file.read_text(encoding="utf-8"))
    assert typed(render("resolved.yaml.j2", blueprint=resolve(blueprint))) == blueprint


def test_every_default_is_written_out():
    blueprint = typed((FILES[0].parent / "lab.yaml").read_text())
    resolved = resolve(blueprint)
    assert resolved["nodes"]["gpu"]["width"] == 4
    assert resolved["training"]["pretrain"]["parallel"] == {"tensor": 1, "pipeline": 1, "virtual": 1, "context": 1, "expert": 1, "expert_tensor": 1, "sequence": True, "embedding_as_layer": False, "loss_as_layer": False}
    assert resolved["sites"]["lab-room"]["rack"] == {"power": "30kW", "units": 48, "row_length": 20, "pitch_m": 2.4, "width_m": 0.6}
    assert resolved["schema"] == 1


def test_what_has_no_value_is_left_out():
    resolved = resolve(typed((FILES[0].parent / "lab.yaml").read_text()))
    assert "cooling" not in resolved["sites"]["lab-room"]
    assert "checkpoint" not in resolved["training"]["pretrain"]


def amounts(*units):
    """What a person may write: at most 12 digits before and 3 after the point."""
    numbers = st.decimals("0.001", "999999999999", places=3).map(lambda n: f"{n.normalize():f}")
    return st.builds("{}{}{}".format, numbers, st.sampled_from(["", " "]), st.sampled_from(units))


def again(section):
    """The section after it was written out and read once more."""
    return type(section).model_validate(section.model_dump(mode="json", by_alias=True, exclude_none=True))


def accepted(model, data):
    """The section, or None where a quantity is no whole number of its base unit and so is refused."""
    try:
        return model.model_validate(data)
    except ValueError:
        return None


@given(amounts("B", "kB", "GB", "PB", "KiB", "TiB", "PiB"), amounts("B/s", "GB/s", "TB/s", "GiB/s"), amounts("MB/s", "KiB/s"))
def test_sizes_and_rates_survive(capacity, read, write):
    names = {"kind": "lustre", "site": "a", "servers": "oss", "metadata": "mds", "fabric": "ib", "mount": "/scratch"}
    section = accepted(Lustre, names | {"capacity": capacity, "read": read, "write": write})
    assert section is None or again(section) == section


@given(amounts("W", "kW", "MW", "GW"), st.integers(4, 60))
def test_power_survives(power, units):
    section = accepted(OnPremSite, {"kind": "on-prem", "rack": {"power": power, "units": units}})
    assert section is None or again(section) == section


@given(amounts("ms", "s", "min", "h", "d"))
def test_times_survive(target):
    section = Checkpoint.model_validate({"to": "scratch", "target": target})
    assert again(section) == section


@given(st.sampled_from(["kW", "MW"]), st.integers(1, 10**6))
def test_a_unit_is_only_a_way_to_write_it(unit, number):
    watts = Rack.model_validate({"power": f"{number}{unit}"}).power
    assert watts == number * {"kW": 10**3, "MW": 10**6}[unit]
