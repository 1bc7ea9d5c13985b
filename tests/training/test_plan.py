"""The plan of whole jobs: what fits, what is refused, and that the advice holds."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest

from iacgen import catalog
from iacgen.diagnostics import errors
from iacgen.training import NodeGrid, batch, plan
from iacgen.training.memory import table
from iacgen.training.offload import host_memory
from iacgen.training.plan import SMALL_HEADROOM

GIB = 2**30


def test_the_superpod_job_fits(pretrain):
    job, findings = plan(pretrain)
    assert findings == []
    assert (job.world, job.data_parallel, job.micro_batches) == (1008, 7, 36)
    assert job.grid == NodeGrid(context=2, data=7, pipeline=9)
    assert job.parameters.total == 405_853_388_800
    assert job.memory.fits
    assert job.memory.worst.stage == 0


def test_the_same_job_without_context_parallelism_breaks_on_activations(pretrain):
    job, (finding,) = plan(replace(pretrain, context=1))
    assert job is None
    assert (finding.id, finding.slug, finding.severity, finding.path) == ("IAC330", "job-does-not-fit", "error", ("training", "pretrain"))
    assert "stored activations" in finding.message
    (marked,) = [line for line in finding.help.splitlines() if "<- breaks" in line]
    assert marked.startswith("stored activations")


FIELD = {"count": "nodes", "optimizer": "offload_optimizer", "weights": "offload_weights"}


def offered(finding):
    """The changes that the last line of the help names: each a set of fields of a job, and the sum that is promised."""
    one = r"(?:[a-z_.]+: \w+|no (?:shard|secondary)_group|parallel.embedding_as_layer and loss_as_layer: true)"
    for words, gib in re.findall(rf"({one}(?: and {one}){{0,2}}) \(([\d.]+) GiB\)", finding.help.splitlines()[-1]):
        change = {}
        for word in re.findall(one, words):
            key, _, value = word.rpartition(".")[2].partition(": ")
            value = {"true": True, "": None}.get(value, int(value) if value.isdigit() else value)
            change |= {FIELD.get(k, k): value for k in key.removeprefix("no ").split(" and ")}
        yield change, float(gib)


STRAITS = [
    ("pretrain", {"context": 1}),
    ("pretrain", {"context": 1, "usable_nodes": 200, "global_batch": 504}),
    ("pretrain", {"pipeline": 1, "virtual": 1, "context": 1, "recompute": "none", "gradients": "fp32"}),
    ("pretrain", {"micro_batch": 4, "global_batch": 1008}),
    ("finetune", {"zero": 1}),
    ("finetune", {"zero": 2, "recompute": "none"}),
    ("finetune", {"recompute": "none", "sequence": 4096, "micro_batch": 4, "global_batch": 1024}),
    ("finetune", {"framework": "fsdp", "shard_group": 8}),
    ("finetune", {"framework": "fsdp", "nodes": 1, "usable_nodes": 8}),
]


@pytest.mark.parametrize(("base", "numbers"), STRAITS, ids=lambda value: str(value))
def test_every_offered_change_makes_the_job_fit_as_promised(request, base, numbers):
    spec = replace(request.getfixturevalue(base), **numbers)
    _, (finding,) = plan(spec)
    changes = list(offered(finding))
    assert changes or finding.help.splitlines()[-1].startswith("no change of")
    for change, gib in changes:
        extra = {"sequence_parallel": spec.framework != "deepspeed" and change["tensor"] > 1} if "tensor" in change else {}
        job, _ = plan(replace(spec, **change, **extra))
        assert job is not None
        assert job.memory.worst.total / GIB == pytest.approx(gib, abs=0.06)


def test_changes_are_the_smallest_of_their_kind(pretrain, finetune):
    _, (finding,) = plan(replace(pretrain, context=1))
    assert [change for change, _ in offered(finding)] == [{"recompute": "full"}, {"context": 2}]
    _, (finding,) = plan(replace(finetune, zero=1))
    assert {"zero": 3} in [change for change, _ in offered(finding)], "stage 2 keeps 141 GB of weights on each GPU"


def test_where_one_change_does_not_do_two_are_offered(finetune):
    """70B without ZeRO, its optimizer whole on 80 GB: tensor 8 and pipeline 4 together leave a share that fits."""
    _, (finding,) = plan(replace(finetune, zero=0, recompute="none"))
    assert finding.help.splitlines()[-1].startswith("no single change makes it fit; it would with ")
    assert all(len(change) == 2 for change, _ in offered(finding))


def test_a_pair_is_found_wherever_its_sizes_stand(pretrain):
    """32 trays of four GB200 that NVLink does not join, in copies of eight GPUs: neither more trays nor more stages fit alone, and no doubling of either does with the
    other: 36 trays and nine stages do, and eight stages with both ends as layers."""
    job = replace(pretrain, gpu=catalog.gpu("gb200"), nodes=32, usable_nodes=36, gpus_per_node=4, global_batch=128, tensor=4, pipeline=2, virtual=1, context=1, recompute="full", gradients="fp32")
    _, (finding,) = plan(job)
    changes = [change for change, _ in offered(finding)]
    assert {"pipeline": 9, "nodes": 36} in changes and {"pipeline": 8, "embedding_as_layer": True, "loss_as_layer": True} in changes


def test_what_takes_three_changes_is_left_to_the_search(pretrain):
    """405B uncut on 64 nodes: tensor, pipeline and recomputation have to change together."""
    _, (finding,) = plan(replace(pretrain, nodes=64, usable_nodes=64, global_batch=512, tensor=1, sequence_parallel=False, pipeline=1, virtual=1, context=1, gradients="fp32", node_bytes_per_s=400e9))
    line = finding.help.splitlines()[-1]
    found = re.search(r"parallel: auto with micro_batch and recompute left out does: tensor (\d+), .*\(([\d.]+) GiB\)", line)
    assert line.startswith("no change of") and found and int(found[1]) > 1


SIZES = {
    "tensor": [{"tensor": n, "sequence_parallel": n > 1} for n in (1, 2, 4, 8)], "pipeline": [{"pipeline": n} for n in range(1, 129)],
    "context": [{"context": 1 << n} for n in range(7)], "recompute": [{"recompute": "full"}], "nodes": [{"nodes": n} for n in range(2, 5)],
    "gradients": [{"gradients": "bf16"}], "ends": [{"embedding_as_layer": True}, {"loss_as_layer": True}, {"embedding_as_layer": True, "loss_as_layer": True}],
    "offload": [{"offload_optimizer": "cpu"}],
}  # fmt: skip


def test_a_job_that_nothing_saves_says_so(pretrain):
    """All pairs again, by brute force."""
    job = replace(pretrain, nodes=1, usable_nodes=4, pipeline=1, virtual=1, context=1, global_batch=8, gradients="fp32")
    _, (finding,) = plan(job)
    assert finding.help.splitlines()[-1].endswith("makes it fit, nor two of them together")
    pairs = [a | b for one, other in combinations(SIZES, 2) for a in SIZES[one] for b in SIZES[other]]
    adding_up = [changed for changed in (replace(job, **numbers) for numbers in pairs) if not errors(batch.check(changed))]
    assert len(adding_up) > 50
    assert not any(table(changed).fits for changed in adding_up)


@pytest.mark.parametrize(
    ("numbers", "memory_gib", "nvme_gb"),
    [
        ({"offload_optimizer": "cpu"}, 1.5 * 16 * 70_553_706_496 / 32 / GIB, 0),
        ({"offload_optimizer": "cpu", "offload_weights": "cpu"}, 1.5 * 18 * 70_553_706_496 / 32 / GIB, 0),
        # Four buffers of the GPU's 275.6 million elements in fp32 for each of eight GPUs, and five of 10^8 in bf16.
        ({"offload_optimizer": "nvme"}, 8 * 4 * 4 * 275_600_416 / GIB, 16 * 70.553706496 / 32),
        ({"offload_optimizer": "nvme", "offload_weights": "nvme"}, 8 * (4 * 4 * 275_600_416 + 5 * 2 * 10**8) / GIB, 18 * 70.553706496 / 32),
        ({"framework": "fsdp", "offload_optimizer": "cpu", "offload_weights": "cpu"}, 16 * 70_553_706_496 / 32 / GIB, 0),
    ],
)
def test_offload_takes_its_share_of_each_node(finetune, numbers, memory_gib, nvme_gb):
    """DeepSpeed's estimate, 16P/nodes or 18P/nodes with a factor of 1.5, and what ZeRO-Infinity lays on NVMe."""
    host = host_memory(replace(finetune, **numbers))
    assert host.memory_bytes / GIB == pytest.approx(memory_gib, rel=1e-6)
    assert host.nvme_bytes / 1e9 == pytest.approx(nvme_gb, rel=1e-6)


@pytest.mark.parametrize(
    ("room", "found"),
    [
        ({"host_memory_gib": 49.0, "host_nvme_tb": 30.0}, []),
        ({"host_memory_gib": 2048.0, "host_nvme_tb": 0.03}, [("IAC335", "error")]),
        ({"host_memory_gib": 30.0, "host_nvme_tb": 30.0}, [("IAC334", "error")]),
        ({"host_memory_gib": 2048.0, "host_nvme_tb": None}, [("IAC336", "warning")]),
        ({"host_memory_gib": None, "host_nvme_tb": 30.0}, []),
    ],
)
def test_what_leaves_the_gpus_must_find_room(finetune, room, found):
    """NVMe for the optimizer, 35 GB a node; memory for its buffers and for the weights, 33 and 6 GiB."""
    job, findings = plan(replace(finetune, offload_optimizer="nvme", offload_weights="cpu", **room))
    assert [(f.id, f.severity) for f in findings] == found
    assert all(f.path[-2:] == ("offload", "optimizer") for f in findings)
    assert (job is None) == any(severity == "error" for _, severity in found)


@pytest.mark.parametrize(("model", "nodes", "batch", "recompute"), [("llama-3-70b", 32, 256, "full"), ("llama-3-8b", 2, 64, "none"), ("llama-3-8b", 2, 64, "full")])
def test_zero_3_jobs_of_the_blueprints_fit(finetune, model, nodes, batch, recompute):
    job, findings = plan(replace(finetune, model=catalog.model(model), nodes=nodes, global_batch=batch, recompute=recompute))
    assert findings == []
    assert job.grid == NodeGrid(context=1, data=nodes, pipeline=1)


def test_memory_is_not_judged_while_the_arithmetic_is_wrong(pretrain):
    job, findings = plan(replace(pretrain, context=1, global_batch=250))
    assert job is None
    assert [f.slug for f in findings] == ["batch-not-divisible"]


def test_a_tight_job_is_planned_with_a_warning(pretrain):
    job, _ = plan(pretrain)
    room = job.memory.worst.total / (1 - SMALL_HEADROOM / 2)
    gpu = pretrain.gpu.model_copy(update={"memory_gib": room / GIB + pretrain.gpu.context_gib})
    tight, (warning,) = plan(replace(pretrain, gpu=gpu))
    assert tight is not None
    assert (warning.id, warning.severity) == ("IAC331", "warning")


def test_a_sequence_beyond_the_model_is_planned_with_a_warning(finetune):
    job, (warning,) = plan(replace(finetune, sequence=16384))
    assert job is not None
    assert (warning.slug, warning.severity) == ("sequence-beyond-model", "warning")


def test_a_checkpoint_of_405b_is_5_7_tb_and_60_s_need_95_gb_a_second(pretrain):
    job, _ = plan(pretrain)
    assert round(job.checkpoint_bytes / 1e12, 1) == 5.7
    assert round(job.checkpoint_write_bytes_per_s / 1e9) == 95
    unpromised, _ = plan(replace(pretrain, checkpoint_target_s=None))
    assert (unpromised.checkpoint_write_bytes_per_s, unpromised.checkpoints) == (None, None)
