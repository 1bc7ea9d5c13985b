"""``iacgen init``: whatever it offers is clean, and what it does not offer cannot be had."""

import re

import pytest
import yaml
from jsonschema import Draft202012Validator

from iacgen import catalog
from iacgen.blueprint.schema import schema
from iacgen.cli.init import proof
from iacgen.pipeline import recabled, run, tree
from iacgen.starter import EXAMPLE, SMALL, Impossible, Wish, write
from iacgen.starter.network import network
from iacgen.training.parameters import count

SYSTEMS = [s for s in catalog.entries("systems") if s.gpu and catalog.gpu(s.gpu).vendor == "NVIDIA"]
COUNTS = (1, 2, 4, 7, 8, 9, 16, 31, 32, 33, 64, 65, 127, 128, 170, 375)


def reserved(system, nodes):
    """The id without which so many machines of a cloud are not offered."""
    return EXAMPLE if system.cloud and nodes >= 8 else None


OFFERED = [
    pytest.param(Wish(s.id, n, fabric=fabric, capacity=reserved(s, n)), id=f"{s.id}-{fabric or 'efa'}-{n}")
    for s in SYSTEMS for fabric in ((None,) if s.cloud else ("infiniband", "roce")) for n in COUNTS if (s.id, fabric) != ("dgx-a100", "roce")  # refused below
]  # fmt: skip
JOBS = [pytest.param(Wish(s.id, n, job=job, capacity=reserved(s, n)), id=f"{s.id}-{job}-{n}") for s in SYSTEMS for job in catalog.ids("models") for n in (4, 24, 127)]


def unnamed(wish):
    """Whether the catalog lacks a device name that the fabrics of such a cluster need: RDMA devices on InfiniBand, network devices where
    ports get addresses, on RoCE and for Lustre. The ports of a cloud are named by the cloud."""
    system = catalog.system(wish.system)
    if system.cloud:
        return False
    roce = wish.fabric == "roce" or (wish.fabric is None and system.generic)
    compute, storage = system.nics["compute"], system.nics["storage"]
    stored = wish.nodes >= SMALL and not (storage.rdma_names and storage.interfaces)
    return stored or not compute.rdma_names or (roce and not compute.interfaces)


@pytest.mark.parametrize("wish", OFFERED)
def test_every_machine_in_every_count_is_clean_or_not_offered(wish):
    """By the proof of the command: what it prints has no finding at all, and what it refuses lacks names that only a site can tell."""
    state = proof(write(wish))
    assert {f.slug for f in state.findings} == ({"unnamed-ports"} if unnamed(wish) else set())
    if state.findings:
        return
    pool = state.design.pools["gpu"]
    assert (pool.system.id, pool.count) == (wish.system, wish.nodes)
    assert len(state.project.placements["pretrain"].hosts) <= wish.nodes


@pytest.mark.parametrize("wish", JOBS)
def test_every_model_is_clean_or_does_not_fit(wish):
    try:
        text = write(wish)
    except Impossible as error:
        if catalog.model(wish.job).positions == "alibi":
            assert "ALiBi" in str(error)
            return
        assert f"does not fit {wish.nodes} x" in str(error)
        weights = 14 * count(catalog.model(wish.job), 2048).total
        memory = catalog.gpu(catalog.system(wish.system).gpu).memory_gib * 2**30 * catalog.system(wish.system).gpus * wish.nodes
        assert weights > memory / 4, "a model that is far from filling the GPUs is not refused"
        return
    state = proof(text)
    assert {f.slug for f in state.findings} == ({"unnamed-ports"} if unnamed(wish) else set())
    assert state.project.jobs["pretrain"].spec.model.id == wish.job


@pytest.mark.parametrize(
    ("system", "nodes", "model"),
    # 120 N^2 operations at 0.4 of 989 (A100: 312) TFLOP/s in 30 days: 8 GPUs for 8.03 x 10^9 parameters, 583 for 70.55 x 10^9, 19,277 for 405.85 x 10^9.
    [("dgx-h100", 1, "8b"), ("dgx-h100", 72, "8b"), ("dgx-h100", 73, "70b"), ("dgx-h100", 127, "70b"), ("dgx-a100", 1, "8b"), ("dgx-a100", 127, "8b"), ("dgx-h100", 2409, "70b"), ("dgx-h100", 2410, "405b")],
)
def test_the_model_suits_the_number_of_gpus_and_the_file_says_why(system, nodes, model):
    text = write(Wish(system, nodes))
    assert yaml.safe_load(text)["training"]["pretrain"]["model"].endswith(f"-{model}")
    assert "--job names another model" in text
    assert ("too few for any" in text) == ((system, nodes) == ("dgx-a100", 1))
    named = write(Wish(system, nodes, job="llama-2-7b"))
    assert "--job names" not in named and yaml.safe_load(named)["training"]["pretrain"]["model"] == "llama-2-7b"


@pytest.mark.parametrize("wish", [Wish("dgx-h100", 127), Wish("hgx-h100", 2), Wish("p5.48xlarge", 16, job="llama-3-70b", capacity=EXAMPLE)], ids=lambda w: w.system)
def test_it_is_judged_like_any_other(wish):
    """Clean for a lab too, valid for an editor, and its files can be written."""
    text = write(wish)
    assert not run(text.encode(), "init", "lab").findings
    assert list(Draft202012Validator(schema()).iter_errors(yaml.safe_load(text))) == []
    assert "slurm/slurm.conf" in tree(run(text.encode(), "init"))
    assert write(wish) == text


@pytest.mark.parametrize("wish", [Wish("dgx-h100", 127), Wish("hgx-h100", 2), Wish("p5.48xlarge", 3), Wish("p5.48xlarge", 100, capacity=EXAMPLE)], ids=lambda w: f"{w.system}-{w.nodes}")
def test_it_teaches(wish):
    text = write(wish)
    lines = text.splitlines()
    assert lines[0] == "# yaml-language-server: $schema=blueprint.schema.json"
    assert text.endswith("}\n") or text.endswith("parallel\n")
    assert sum("#" in line for line in lines) >= 15
    assert not re.search(r"[ \t]$|\n\n\n", text, flags=re.MULTILINE)
    assert all(len(line) <= 150 for line in lines)
    for command in re.findall(r'"?iacgen ([a-z]+)', text):
        assert command in ("check", "generate", "catalog", "schema")


def test_a_commented_line_can_be_made_to_count():
    """What stands behind a mark is right, too."""
    for wish in (Wish("dgx-h100", 64), Wish("p5.48xlarge", 2)):
        text = re.sub(r"^( *)# (cooling|admin_networks|capacity): ", r"\1\2: ", write(wish), flags=re.MULTILINE)
        assert text != write(wish)
        assert not [f for f in run(text.encode(), "init").findings if f.severity == "error"]


@pytest.mark.parametrize("nodes", [2, 16, 64, 65, 200])
def test_cloud_machines_are_taken_from_what_was_named(nodes):
    state = run(write(Wish("p5.48xlarge", nodes, capacity=EXAMPLE)).encode(), "init")
    assert (state.blueprint.nodes["gpu"].capacity.id, state.findings) == (EXAMPLE, ())
    assert "cr-000" not in write(Wish("p5.48xlarge", nodes, capacity=EXAMPLE))


@pytest.mark.parametrize("nodes", [4, 8, 9, 64, 375])
def test_a_hall_has_consoles_and_its_people_reach_the_files(nodes):
    """Beyond eight nodes every machine and every switch of the other networks is on one more; login nodes mount what is stored."""
    state = run(write(Wish("hgx-h100", nodes)), "init")
    consoles = state.design.fabrics.get("oob")
    assert (consoles is not None) == (nodes > 8)
    if consoles:
        assert set(consoles.pools) == set(state.design.pools)
        others = [name for fabric in state.design.fabrics.values() if fabric is not consoles for name in fabric.switch_names]
        assert {link.a for link in consoles.wiring() if link.a in others} == set(others)
    for store in state.design.storage.values():
        assert "login" in store.clients and "login" in state.design.fabrics["storage"].pools


def test_more_nodes_leave_a_spare():
    assert "spares" not in write(Wish("dgx-h100", 16))
    assert re.search(r"count: 64, grow_to: \d+, spares: 1}", write(Wish("dgx-h100", 64)))


@pytest.mark.parametrize(
    "wish", [Wish("dgx-h100", 2), Wish("dgx-h100", 9), Wish("dgx-h100", 16), Wish("dgx-h100", 33), Wish("dgx-h100", 64), Wish("dgx-a100", 25), Wish("hgx-h100", 2), Wish("hgx-h100", 20), Wish("dgx-h100", 375)],
    ids=lambda w: f"{w.system}-{w.nodes}",
)  # fmt: skip
def test_growth_up_to_what_is_written_moves_no_cable(wish):
    """On no fabric, at every step to the last, by the count alone; one node more than that and something moves or does not fit."""
    text = write(wish)
    most = int(re.search(r"grow_to: (\d+)", text)[1])
    first = run(text, "init")
    assert most > wish.nodes and first.design
    for count in sorted({wish.nodes + 1, (wish.nodes + most) // 2 + 1, most}):
        grown = run(text, "init", sets=[f"nodes.gpu.count={count}"])
        assert grown.design and not [f for f in grown.findings if f.id in ("IAC211", "IAC563")]
        assert not [name for name, fate in recabled(first, grown).items() if fate.disturbs]
    past = run(text, "init", sets=[f"nodes.gpu.count={most + 1}", f"nodes.gpu.grow_to={most + 1}"])
    assert past.design is None or [name for name, fate in recabled(first, past).items() if fate.disturbs]


def test_sixteen_nodes_grow_to_twenty():
    text = write(Wish("dgx-h100", 16))
    fates = recabled(run(text, "init"), run(text, "init", sets=["nodes.gpu.count=20"]))
    assert fates["compute"].new == 4 * 8 and not any(fate.disturbs for fate in fates.values())


@pytest.mark.parametrize("pool", ["oss", "mds", "ctl", "login"])
def test_growth_of_what_stands_behind_the_gpus_moves_no_cable_of_theirs(pool):
    """The GPU nodes come first on every fabric, so that all their ports stay."""
    text = write(Wish("dgx-h100", 16))
    before, after = run(text, "init"), run(text, "init", sets=[f"nodes.{pool}.count=6"])
    for name, fabric in before.design.fabrics.items():
        assert fabric.pools[0] == "gpu"
        laid = {(c.a, c.a_port, c.b, c.b_port) for c in fabric.wiring() if c.a.startswith("gpu")}
        assert laid <= {(c.a, c.a_port, c.b, c.b_port) for c in after.design.fabrics[name].wiring()}


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (Wish("dgx-h10", 8), "no system with GPUs is called 'dgx-h10'; there are dgx-a100"),
        (Wish("generic-1u", 8), "no system with GPUs is called 'generic-1u'"),
        # ConnectX-6 runs 200G over four lanes of 50G: two links a cage of SN5600, which counts four of 200G.
        (Wish("dgx-a100", 8, fabric="roce"), "no switch of the catalog speak roce over a cable that fits both"),
        (Wish("../gpus/h200", 8), "no system with GPUs"),
        (Wish("dgx-h100", 8, job="gpt-9"), "no model is called 'gpt-9'; there are bloom-176b"),
        (Wish("dgx-h100", 8, site="aws"), "--site on-prem"),
        (Wish("p5.48xlarge", 8, site="on-prem"), "--site aws"),
        (Wish("p5.48xlarge", 8, fabric="roce"), "leave --fabric out"),
        (Wish("p5.48xlarge", 8), "give the id of your capacity block or reservation, --capacity cr-"),
        (Wish("p5.48xlarge", 8, capacity="cr-00000000000000000"), "--capacity takes the id of a capacity block or reservation"),
        (Wish("p5.48xlarge", 8, capacity="block"), "--capacity takes the id of a capacity block or reservation"),
        (Wish("dgx-h100", 8, capacity=EXAMPLE), "leave --capacity out"),
        (Wish("dgx-h100", 0), "--nodes is from 1 to 9,999"),
        (Wish("dgx-h100", 10_000), "--nodes is from 1 to 9,999"),
        (Wish("dgx-h100", 2, job="llama-3.1-405b"), "does not fit 2 x NVIDIA DGX H100; take more nodes"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_what_cannot_be_had_says_why(wish, why):
    with pytest.raises(Impossible, match=re.escape(why)):
        write(wish)


@pytest.mark.parametrize("technology", ["infiniband", "roce"])
def test_a_fabric_has_room_for_its_manager(technology):
    for nodes in range(1, 257):
        net = network(catalog.system("dgx-h100"), nodes, technology)
        if net.unit is None:
            assert nodes * 8 <= net.ports
            continue
        last = nodes % net.unit or net.unit
        assert net.unit <= net.ports // 2
        assert (net.ports - net.unit - last) * 8 >= 4 * (net.ufm is not None)


@pytest.mark.parametrize("wish", [Wish("dgx-h100", 127), Wish("dgx-a100", 16, job="llama-3-70b"), Wish("dgx-b200", 8, job="llama-3-70b")], ids=lambda w: f"{w.system}-{w.job}")
def test_nothing_smaller_fits(wish):
    """Each layout of fewer GPUs that takes as many nodes is put into the blueprint instead, and something is found."""
    data = yaml.safe_load(write(wish))
    job = data["training"]["pretrain"]
    chosen = job["parallel"]
    size = chosen["tensor"] * chosen["pipeline"] * chosen["context"]
    nodes = run(yaml.safe_dump(data).encode(), "init").project.jobs["pretrain"].spec.nodes
    layers = catalog.model(job["model"]).layers
    for tensor, pipeline, context in ((t, p, c) for t in (1, 2, 4, 8) for p in range(1, size + 1) for c in (1, 2, 4)):
        smaller = tensor * pipeline * context
        if smaller >= size or layers % pipeline or nodes * 8 % smaller:
            continue
        job |= {"parallel": {"tensor": tensor, "pipeline": pipeline, "context": context}, "global_batch": nodes * 8 // smaller * 4 * pipeline}
        assert run(yaml.safe_dump(data).encode(), "init").findings, job["parallel"]
