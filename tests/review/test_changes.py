"""What counts as a change: values, not the way in which they are written."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.blueprint import assemble, parse, resolve
from iacgen.review.changes import changes

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
NAMES = ["lab", "superpod-h100", "aws-p5"]


def read(text, *sets):
    document, _ = assemble((text, "x"), sets=sets)
    parsed, findings = parse(document.data)
    assert parsed, findings
    return parsed


def text_of(name):
    return (BLUEPRINTS / f"{name}.yaml").read_text(encoding="utf-8")


def data_of(name):
    return assemble((text_of(name), name))[0].data


def shuffled(data, draw):
    if isinstance(data, dict):
        return {key: shuffled(data[key], draw) for key in draw(st.permutations(list(data)))}
    return list(data) if isinstance(data, (list, tuple)) else data


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_order_of_maps_is_no_change(name, data):
    written = data_of(name)
    other, findings = parse(shuffled(written, data.draw))
    assert other, findings
    assert changes(parse(written)[0], other) == ()


@pytest.mark.parametrize("name", NAMES)
def test_defaults_written_out_are_no_change(name):
    old = read(text_of(name))
    new, findings = parse(resolve(old))
    assert new, findings
    assert changes(old, new) == changes(new, old) == ()


def test_comments_and_names_of_anchors_are_no_change():
    text = text_of("superpod-h100")
    other = "# another line\n" + text.replace("&machines", "&everything").replace("*machines", "*everything").replace("# cores", "# x") + "# the end\n"
    assert other != text and changes(read(text), read(other)) == ()


@pytest.mark.parametrize(
    "base, words",
    [
        ("aws-p5", "nodes.head.capacity={kind: on-demand}"),
        ("aws-p5", "sites.ohio.security_group={}"),
        ("lab", "fabrics.compute.qos={dscp: 26, priority: 3}"),
        ("lab", "fabrics.compute.quoted={}"),
        ("lab", "training.pretrain.offload={}"),
        ("lab", "training.pretrain.assume={}"),
    ],
)
def test_a_section_that_says_what_holds_without_it_is_no_change(base, words):
    assert changes(read(text_of(base)), read(text_of(base), words)) == ()


def test_a_value_is_named_by_its_path_with_both_values_as_resolve_prints_them():
    (change,) = changes(read(text_of("superpod-h100")), read(text_of("superpod-h100"), "storage.scratch.capacity=11PB"))
    assert (change.path, change.section, change.key, change.old, change.new) == (("storage", "scratch", "capacity"), "Lustre", "capacity", "10PB", "11PB")


def test_an_entry_that_comes_or_goes_is_one_change_of_the_map():
    old, new = read(text_of("lab")), read(text_of("lab"), "nodes.pre={site: lab-room, system: generic-1u, count: 2}")
    (come,), (gone,) = changes(old, new), changes(new, old)
    assert (come.path, come.section, come.key, come.old) == (("nodes", "pre"), "Blueprint", "nodes", None)
    assert come.new["count"] == 2 and (gone.old, gone.new) == (come.new, None)


def test_an_entry_of_another_kind_is_one_change_of_the_map():
    old = read(text_of("aws-p5"), "storage.x={kind: s3, site: ohio}")
    (change,) = changes(old, read(text_of("aws-p5"), "storage.x={kind: fsx-lustre, site: ohio, capacity: 1200GiB, mount: /x}"))
    assert (change.path, change.section, change.old["kind"], change.new["kind"]) == (("storage", "x"), "Blueprint", "s3", "fsx-lustre")


def test_the_language_key_is_named_and_not_the_attribute():
    assert {c.path[0] for c in changes(read(text_of("lab")), read(text_of("lab"), "name=other"))} == {"name"}


def test_a_job_that_turns_to_auto_is_one_change():
    (change,) = changes(read(text_of("superpod-h100")), read(text_of("superpod-h100"), "training.pretrain.parallel=auto"))
    assert change.section == "Training" and change.key == "parallel" and change.new == "auto" and change.old["tensor"] == 8
