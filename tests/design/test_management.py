"""Networks that manage: in-band over fast ports of hosts, out-of-band over the consoles of machines and switches."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from iacgen import catalog
from iacgen.design.fabric.growth import moves
from iacgen.design.fabric.names import as_ethernet
from iacgen.pipeline import run
from iacgen.targets import ansible, nccl, slurm

TEXT = (Path(__file__).parents[1] / "cases/fabric/out-of-band.yaml").read_text()


@cache
def state(*changes):
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return run(text, "x.yaml")


def design(*changes):
    found = state(*changes)
    assert found.design, found.findings
    return found.design


def test_every_console_of_machine_and_switch_has_one_port():
    """All machines of the hall and every switch of the three other fabrics, each once, and no port of a leaf twice."""
    built = design()
    oob = built.fabrics["oob"]
    others = [name for fabric in built.fabrics.values() if fabric is not oob for name in fabric.switch_names]
    machines = [host for pool in built.pools.values() for host in pool.hosts]
    low = [cable for cable in oob.wiring() if cable.joins == "host-leaf"]
    assert Counter(c.a for c in low) == Counter([*others, *machines])
    assert len({(c.b, c.b_port) for c in low}) == len(low) == oob.cables.host
    assert {c.a_port for c in low if c.a in set(machines)} == {"bmc"}
    assert {c.a_port for c in low if c.a.startswith("front")} == {"eth0"} and {c.a_port for c in low if c.a.startswith("compute")} == {"mgmt0"}


def test_a_switch_that_is_managed_from_outside_has_no_console():
    oob = design(("switch: qm9700, unit: 32", "switch: qm9790, unit: 32")).fabrics["oob"]
    assert {run.fabric for run in oob.attached} == {"storage", "front"}
    assert not catalog.switch("qm9790").software


def test_only_one_fabric_of_a_hall_reaches_its_switches():
    """The first by name."""
    second = ("storage:\n  scratch", "  console: {site: hall, purpose: out-of-band, connects: [oss], technology: ethernet, switch: sn2201, subnet: 10.96.0.0/12}\nstorage:\n  scratch")
    first = ("connects: [gpu, oss, mds, ctl, ufm], technology: ethernet, switch: sn2201", "connects: [gpu, mds, ctl, ufm], technology: ethernet, switch: sn2201")
    built = design(first, second)
    assert built.fabrics["console"].attached and not built.fabrics["oob"].attached


def test_growth_moves_no_cable_and_no_address():
    before, after = design(), design(("count: 63,", "count: 127,"))
    for name, fabric in before.fabrics.items():
        assert not moves(fabric, after.fabrics[name]).disturbs, name
    assert len(after.fabrics["oob"].hosts) > len(before.fabrics["oob"].hosts) + 64

    def addresses(built):
        oob = built.fabrics["oob"]
        consoles = {run.host(i): oob.address(run.name, 0, i) for run in oob.attached for i in range(run.count)}
        return consoles | {host: built.address(host, "out-of-band") for pool in built.pools.values() for host in pool.hosts}

    was, now = addresses(before), addresses(after)
    assert was.items() <= now.items()
    assert len(set(now.values())) == len(now) == after.fabrics["oob"].cables.host


def test_consoles_that_do_not_fit_the_subnet_are_refused():
    """Five pools of four digits own 16,384 addresses each; switches take the rest from the end."""
    found = state(("technology: ethernet, switch: sn2201", "technology: ethernet, switch: sn2201, subnet: 10.80.0.0/16"))
    (error,) = [f for f in found.findings if f.severity == "error"]
    assert (error.id, error.path) == ("IAC211", ("fabrics", "oob", "subnet"))
    assert error.message.endswith("; a /15 would do"), "81,920 addresses, and those of the switches, are more than 65,536 and fewer than 131,072"
    assert not [f for f in state(("technology: ethernet, switch: sn2201", "technology: ethernet, switch: sn2201, subnet: 10.128.0.0/15")).findings if f.severity == "error"]


def test_people_slurm_and_nccl_take_the_fast_network():
    found = state()
    built = found.design
    assert str(built.address("gpu0001")) == "10.64.0.1" and built.management_of("gpu") is built.fabrics["front"]
    from iacgen.placement.project import Project

    project = found.project or Project("x", built, {}, {})
    assert "NCCL_SOCKET_IFNAME=^bmc,docker,enx,ib,lo,usb,veth\n" in nccl.render(project)["nccl/nccl.conf"]  # nobody knows the name of the bond
    hosts = ansible.render(project)["ansible/hall/inventory/group_vars/all/cluster.yml"]
    assert "10.64.0.1" in hosts and "10.80." not in hosts
    assert "10.80." not in "".join(slurm.render(project).values())


def test_the_ports_of_a_bond_share_an_address():
    front = design().fabrics["front"]
    assert front.nics["gpu"].count == 2 and front.address("gpu", 4, 0) == front.address("gpu", 4, 1)
    every = [front.address(pool, i) for pool in front.pools for i in range(design().pools[pool].count)]
    assert len(set(every)) == len(every)


def test_by_rails_the_ports_of_a_machine_end_on_two_leaves():
    built = design(("purpose: in-band, connects: [gpu, oss, mds, ctl, ufm], technology: ethernet, switch: sn4600c", "purpose: in-band, connects: [gpu, oss, mds, ctl, ufm], technology: ethernet, topology: rail-fat-tree, switch: sn4600c, unit: 48, oversubscription: 3"))
    ends = {}
    for cable in built.fabrics["front"].wiring():
        if cable.joins == "host-leaf":
            ends.setdefault(cable.a, set()).add(cable.b)
    assert len(ends) == 63 + 8 + 2 + 2 + 2 and all(len(leaves) == 2 for leaves in ends.values())


def test_one_spine_of_another_model_joins_more_leaves_than_uplink_ports_allow():
    """Five leaves of 48 ports with two uplinks each: ten ports of 100G, which four uplink ports of a leaf's model cannot take."""
    oob = design().fabrics["oob"]
    assert (len(oob.leaves), len(oob.spines), len(oob.cores)) == (5, 1, 0)
    assert oob.tiers[1].switch.ports(100) >= 10 and oob.tiers[1].switch.id != "sn2201"


@pytest.mark.parametrize(
    ("name", "ethernet"),
    [("ibp24s0", "enp24s0np0"), ("ibp41s0f0", "enp41s0f0np0"), ("ibP16p3s0", "enP16p3s0np0"), ("rail0", "rail0"), ("eno1", "eno1"), ("ib0", "ib0")],
)
def test_ethernet_names_of_ports(name, ethernet):
    """NVIDIA DGX H100/H200 User Guide, table 6: the same ports are ibp24s0 and enp24s0np0."""
    assert as_ethernet(name) == ethernet
