"""The orders of ranks of a dragonfly: that of a job where it is started, the mixed one for others, held against real routes."""

import pytest

from iacgen import catalog
from iacgen.output import apply, plan
from iacgen.pipeline import run, tree
from iacgen.verify import fabric as opensm

# Nine groups of four routers with two single-port hosts each.
BLUEPRINT = """
kind: Cluster
schema: 1
name: fly
sites: {{hall: {{kind: on-prem}}}}
nodes:
  gpu: {{site: hall, system: hgx-h100, count: {count}, spares: {spares}}}
  ctl: {{site: hall, system: generic-1u, count: 1}}
fabrics:
  compute: {{site: hall, purpose: compute, connects: [gpu], technology: infiniband, switch: qm9700, topology: dragonfly, group: {{hosts: {hosts}, leaves: {leaves}, links: {links}}}, manager: {{kind: opensm, pool: gpu}}}}
  mgmt: {{site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}}
scheduler: {{kind: slurm, version: "24.11", controllers: ctl}}
training:
  job: {{model: llama-3-8b, nodes: gpu, count: {job}, sequence: 4096, global_batch: {batch}, framework: {framework}{more}}}
"""
SMALL = {"hosts": 2, "leaves": 4, "links": 2}


@pytest.fixture
def one_port(monkeypatch):
    """Machines with one port on the compute fabric, as those of the fabrics that papers on dragonflies show."""
    known = catalog.system

    def system(name):
        found = known(name)
        nic = found.nics.get("compute")
        port = nic.model_copy(update={"count": 1, "rdma_names": ("mlx5_0",), "interfaces": ("ib0",)}) if nic else None
        return found.model_copy(update={"nics": found.nics | {"compute": port}}) if port else found

    monkeypatch.setattr(catalog, "system", system)


def made(count, job, framework="deepspeed", more=", zero: 3", spares=0, **sizes):
    state = run(BLUEPRINT.format(count=count, spares=spares, job=job, batch=8 * job, framework=framework, more=more, **sizes), "fly.yaml", "lab")
    assert state.project, state.findings
    return state


@pytest.mark.parametrize(("framework", "more"), [("deepspeed", ", zero: 3"), ("megatron", ", parallel: {tensor: 8}")])
def test_every_file_that_starts_a_job_has_the_order_of_its_placement(one_port, framework, more):
    """And the file for other programs has all hosts, mixed over the groups."""
    state = made(72, 72, framework, more, **SMALL)
    fabric, files = state.project.design.fabrics["compute"], tree(state)
    ranks = state.project.placements["job"].hosts
    assert [line.split()[0] for line in files["training/job/hostfile"].splitlines()] == [*ranks]
    in_rank_file = [line.split("=")[1].split()[0] for line in files["training/job/rankfile"].splitlines() if line.startswith("rank ")]
    assert list(dict.fromkeys(in_rank_file)) == [*ranks]
    slurm = [line.strip() for line in files["slurm/job.ranks"].splitlines()]
    assert list(dict.fromkeys(slurm)) == [*ranks]
    mixed = files["fabric/compute/ranks.txt"].split()
    assert sorted(mixed) == sorted(fabric.hosts) and mixed == [*fabric.rank_order] != [*fabric.hosts]


def test_a_job_on_a_part_of_the_hosts_is_no_slower_than_sorted_names(one_port):
    """36 of 72; spares stay idle."""
    placed = made(72, 36, spares=4, **SMALL).project.placements["job"]
    assert placed.cost_s < placed.sorted_cost_s
    assert len({*placed.hosts}) == 36 and [idle.why for idle in placed.idle].count("spare") == 4


def test_hosts_of_one_group_lie_as_they_come():
    state = made(4, 4, **SMALL | {"hosts": 8})
    assert state.project.placements["job"].hosts == state.project.design.fabrics["compute"].hosts


def written(state, folder):
    apply(plan(tree(state), folder / "out"), folder / "out")
    return folder / "out"


@pytest.mark.judge("opensm")
def test_the_order_of_the_tree_is_judged_and_not_another(one_port, tmp_path):
    """72 hosts: at most so many flows on a link as chance has; a hand that sorts the file is found out by the routes."""
    state = made(72, 72, **SMALL)
    folder = written(state, tmp_path)
    verdict = opensm.verify(folder, state.project)
    assert (verdict.status, verdict.findings) == ("passed", ())
    file = folder / "fabric/compute/ranks.txt"
    file.write_text("".join(sorted(file.read_text().splitlines(keepends=True))))
    verdict = opensm.verify(folder, state.project)
    assert verdict.status == "failed" and {f.slug for f in verdict.findings} == {"congested-link"}


@pytest.mark.judge("opensm")
def test_the_mixed_order_of_1056_hosts_has_at_most_8_flows_on_a_link(one_port, tmp_path):
    """p = 4, a = 8, h = 4, by the file of the tree, over all of its 1,055 shifts and the routes of dfsssp."""
    state = made(1056, 1056, hosts=4, leaves=8, links=4)
    folder, fabric = written(state, tmp_path), state.project.design.fabrics["compute"]
    (subnet,) = opensm.subnets(folder, state.project, fabric)
    assert [name.split()[0] for name in subnet.plan.order] == (folder / "fabric/compute/ranks.txt").read_text().split()
    assert len(subnet.plan.order) == 1056
    seen = opensm.examined(subnet.plan, subnet.wired, subnet.given)
    assert seen.up and seen.cycle is None and seen.congestion.total == 1055
    assert seen.congestion.worst <= 8
