"""Fabrics that are several subnets: each is brought up by an opensm of its own, from its own files, and judged by its name."""

from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import fabric as target
from iacgen.verify import fabric as opensm
from iacgen.verify.fabric import simgrid
from iacgen.verify.fabric.plan import of_fabric
from iacgen.verify.fabric.settings import planned

CASES = Path(__file__).parents[2] / "cases/fabric"
PARTITIONS = "Default=0x7fff,ipoib,mtu=5: ALL=full, ALL_SWITCHES=full, SELF=full;\n"
SUBNETS = {"rails": [f"compute.rail{n}" for n in range(1, 9)], "two-subnets": ["compute.plane1", "compute.plane2"]}


def project_of(case):
    state = run((CASES / f"{case}.yaml").read_text(), case)
    assert state.project, state.findings
    return state.project


@pytest.fixture(params=SUBNETS)
def written(request, tmp_path):
    """(project, tree, names of its subnets)."""
    project = project_of(request.param)
    apply(plan(target.render(project), tmp_path / "out"), tmp_path / "out")
    return project, tmp_path / "out", SUBNETS[request.param]


@pytest.fixture
def rails(tmp_path):
    project = project_of("rails")
    apply(plan(target.render(project), tmp_path / "out"), tmp_path / "out")
    return project, tmp_path / "out"


def test_each_subnet_has_its_own_wiring_and_its_own_settings(written):
    """Together they have every link of the cable list, and no adapter is in two of them by one port."""
    project, tree, names = written
    fabric = project.design.fabrics["compute"]
    found = list(opensm.subnets(tree, project, fabric))
    assert [subnet.name for subnet in found] == names
    assert sum(len(subnet.wired.links) for subnet in found) == sum(1 for _ in fabric.wiring())
    assert all({*subnet.wired.links} == {*subnet.plan.links} for subnet in found)
    assert all(subnet.plan.adapters[0].split(" ")[0] == mine.manager.hosts[0] for subnet, mine in zip(found, fabric.subnets, strict=True))
    for key in ("subnet_prefix", "partition_config_file", "root_guid_file", "log_file"):
        assert len({subnet.given.keys[key] for subnet in found}) == len(names), key
    assert {f"fabric/compute/{mine.folder}/{name}" for mine in fabric.subnets for name in ("opensm.conf", "plan.csv", "guids.sh", "partitions.conf")} <= {
        file.relative_to(tree).as_posix() for pattern in opensm.reads(tree) for file in tree.glob(pattern)
    }


@pytest.mark.judge("opensm", "simgrid")
def test_both_judges_accept_every_subnet(written, monkeypatch):
    project, tree, names = written
    asked = []
    monkeypatch.setattr(opensm, "examined", lambda *words, real=opensm.examined: asked.append(words[0]) or real(*words))
    verdict = opensm.verify(tree, project)
    assert (verdict.status, verdict.findings) == ("passed", ()) and verdict.proves
    assert len(asked) == len(names)
    assert simgrid.verify(tree, project).findings == ()


@pytest.mark.judge("opensm", "simgrid")
def test_the_gb200_unit_passes_rail_by_rail(tmp_path):
    """144 trays: full leaves of 18, and UFM's own ports beside them in the first rack, which are no compute ports."""
    project = project_of("gb200")
    apply(plan(target.render(project), tmp_path / "out"), tmp_path / "out")
    verdict = opensm.verify(tmp_path / "out", project)
    assert verdict.status == "passed" and [f.slug for f in verdict.findings] == ["fabric-judged-in-part"], verdict.findings
    assert simgrid.verify(tmp_path / "out", project).status == "passed"


SPOILT = {
    "a forgotten colon": ("rail5/partitions.conf", "mtu=5: ALL", "mtu=5 ALL", "partition-not-of-plan"),
    "an engine that may fall back": ("rail5/opensm.conf", "ftree,no_fallback", "ftree", "other-routing-engine"),
    "the engine of another topology": ("rail5/opensm.conf", "ftree,no_fallback", "lash,no_fallback", "unused-link"),
    "the names of another rail": ("rail5/plan.csv", "mlx5_", "mlx5_1", "opensm-refused"),
    "the files of GUIDs of another rail": ("rail5/opensm.conf", "/etc/opensm/compute.rail5-root", "/etc/opensm/compute.rail4-root", "opensm-refused"),
}


@pytest.mark.judge("opensm")
@pytest.mark.parametrize(("file", "was", "is_", "slug"), SPOILT.values(), ids=[*SPOILT])
def test_a_spoilt_subnet_is_told_by_its_name(rails, file, was, is_, slug):
    """And none of the seven others."""
    project, tree = rails
    path = tree / "fabric/compute" / file
    text = path.read_text()
    assert was in text
    path.write_text(text.replace(was, is_))
    verdict = opensm.verify(tree, project)
    assert verdict.status == "failed" and slug in {f.slug for f in verdict.findings}
    assert all(f.message.startswith("compute.rail5: ") and f.path == ("fabrics", "compute") for f in verdict.findings)


@pytest.mark.judge("opensm")
def test_a_host_cabled_to_the_rail_beside_is_seen_in_both(fabrics):
    """Ports of a host exchanged between two rails: each subnet has an adapter that belongs to the other."""
    fabric = project_of("rails").design.fabrics["compute"]
    one, two = (of_fabric(subnet) for subnet in fabric.subnets[:2])
    here, there = (next(link for link in plan.links if link.a.startswith("gpu0003 ")) for plan in (one, two))
    swapped = one.with_links(tuple(link._replace(a=there.a) if link == here else link for link in one.links))
    strange = swapped.__class__(**{**swapped.__dict__, "adapters": tuple(there.a if name == here.a else name for name in one.adapters)})
    _, slugs, findings = fabrics.examine(one, planned(one, "ftree", PARTITIONS), strange)
    assert "wiring-not-of-plan" in slugs, findings


def test_a_missing_file_of_one_subnet_is_named(rails):
    project, tree = rails
    (tree / "fabric/compute/rail7/guids.sh").unlink()
    with pytest.raises(opensm.ListError, match="rail7/guids.sh is missing"):
        list(opensm.subnets(tree, project, project.design.fabrics["compute"]))
