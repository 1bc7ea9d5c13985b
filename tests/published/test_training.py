"""Published training runs: which are refused, and how far our memory and our step times lie from theirs.

The folder of ``training_cases.csv`` is IACGEN_CASES where that is set, else ``tests/cases``. A row becomes a job by its columns;
what its source does not print, and what no column holds, comes from the few rules of ``job`` below.
"""

from __future__ import annotations

import csv
import os
import re
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest

from iacgen import catalog
from iacgen.diagnostics import errors
from iacgen.training import JobSpec, activations, batch, flops, memory, states, step
from iacgen.training.assume import Assumptions
from iacgen.training.parameters import count, position_rows, shard

HERE = Path(__file__).parent.parent / "cases"
CASES = Path(os.environ.get("IACGEN_CASES", HERE))
GIB = 2**30


def rows(name, folder):
    with (folder / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shapes():
    """Dimensions by model, those beside the cases first."""
    own = rows("model_shapes.csv", HERE)
    return {row["model"]: row for row in [*own, *(rows("model_shapes.csv", CASES) if (CASES / "model_shapes.csv").exists() and CASES != HERE else [])]}


SHAPES = shapes()
GPUS = {"A100-40GB": "a100-40", "A100-80GB": "a100-80", "H100-80GB": "h100-sxm"}
CARDS = {name: catalog.gpu(id) for name, id in GPUS.items()}
"""Types that shares were fitted for."""
RUNS = rows("training_cases.csv", CASES) + (rows("further_training.csv", CASES) if (CASES / "further_training.csv").exists() else [])


def card(name):
    """The GPU that a row names as maker's type and memory, ``H200-141GB``: the catalog's own ids begin with the type."""
    if name in CARDS:
        return CARDS[name]
    kind, _, size = name.lower().removesuffix("gb").partition("-")
    found = [gpu for gpu in map(catalog.gpu, catalog.ids("gpus")) if gpu.id.partition("-")[0] == kind]
    assert found, f"{name}: the catalog has no such GPU"
    return min(found, key=lambda gpu: (abs(gpu.memory_gib - float(size or gpu.memory_gib)), gpu.id))


def number(row, column, default=None):
    return int(row[column]) if row.get(column) else default


def model_of(row):
    """The row's model; None when neither the row, model_shapes.csv nor the catalog says how large it is.

    Its form is that of the catalog's model of this name. For others it follows from the dimensions: a feed-forward of another size than
    4h is taken for a gated one, fewer key-value heads or a gate for a model of the Llama form, all else for a GPT.
    """
    plain = {re.sub(r"[^a-z0-9]", "", id): id for id in catalog.ids("models")}
    listed = plain.get(re.sub(r"[^a-z0-9]", "", row["model"].lower()))
    known = SHAPES.get(row["model"], {})
    form = catalog.model(listed) if listed else None
    said = {ours: number(row, theirs) or number(known, theirs) for ours, theirs in DIMENSIONS.items()}
    if form:
        return form.model_copy(update={key: value for key, value in said.items() if value} | {"max_sequence": number(row, "seq")})
    layers, hidden, vocabulary = said["layers"], said["hidden"], said["vocabulary"]
    if not (layers and hidden and vocabulary) or number(row, "ep", 1) > 1:
        return None
    heads = said["heads"] or nearest_heads(hidden, number(row, "tp", 1))
    ffn, kv_heads = said["ffn_hidden"] or 4 * hidden, said["kv_heads"] or heads
    gated = ffn != 4 * hidden
    llama = gated or kv_heads < heads
    return catalog.Shape(
        id="published", name=row["model"], layers=layers, hidden=hidden, heads=heads, kv_heads=kv_heads, head_dim=hidden // heads,
        ffn_hidden=ffn, vocabulary=vocabulary, tied_embeddings=not llama, gated_ffn=gated,
        norm="rmsnorm" if gated else "layernorm", norm_epsilon=1e-5, bias="none" if llama else "all",
        positions="rope" if llama else "learned", rope_base=500_000 if llama else None, max_sequence=number(row, "seq"),
    )  # fmt: skip


DIMENSIONS = {"layers": "layers", "hidden": "hidden", "vocabulary": "vocab", "heads": "heads", "kv_heads": "kv_heads", "ffn_hidden": "ffn"}


def nearest_heads(hidden, tensor):
    """Heads where a source does not print them: of a size near 128, dividing the width and divided by the tensor size."""
    return min((n for n in range(tensor, hidden, tensor) if hidden % n == 0), key=lambda n: abs(hidden / n - 128))


@dataclass(frozen=True)
class Source:
    """What a source says of all its runs and no column holds: its framework and that one's version, bytes a second of a node's adapters,
    how many layers a chunk of its interleaved pipeline has where it prints no number of chunks (None: nothing is said), and whether it
    cuts the sums of gradients over the copies beside a pipeline."""

    framework: str | None = None
    version: tuple[int, ...] = ()
    node_bytes_per_s: float | None = None
    layers_in_chunk: int | None = None
    shards_gradients: bool = False


SOURCES = {
    # Megatron-DeepSpeed on Jean Zay, 4 x Omni-Path 100 Gb/s; the prototypes under the DeepSpeed of February 2022.
    "bigscience tr11-176B-ml chronicles-prequel": Source("deepspeed", (0, 5, 10), node_bytes_per_s=50e9),
    "bigscience": Source("deepspeed", node_bytes_per_s=50e9),
    # Megatron-DeepSpeed: MT-NLG 530B and GPT-NeoX-20B, section 2 of each.
    "arXiv:2201.11990": Source("deepspeed", (0, 5, 10)),
    "arXiv:2204.06745": Source("deepspeed", (0, 5, 10)),
    "mosaicml/llm-foundry": Source("fsdp"),
    # Section 3.3.2: FSDP shards optimizer and gradients and keeps the weights gathered, gradients are summed and reduced in fp32; the
    # pipeline is interleaved, in how many chunks is not printed: one layer in each is taken.
    "arXiv:2407.21783": Source(layers_in_chunk=1, shards_gradients=True),
    # Section 2: interleaved too; NVIDIA's dgxc-benchmarking recipe of this model has one layer in each chunk.
    "arXiv:2406.11704": Source(layers_in_chunk=1),
}
FLASH, SEQUENCES = 2205.14135, 2205.05198
"""arXiv numbers of FlashAttention and of sequence parallelism: earlier sources have neither."""
NODES = {"A100": 200e9, "H100": 400e9}
"""Adapters beside a GPU, bytes a second: 8 x 200 Gb/s (llm-foundry's "1600 Gbps node-node interconnect"; Selene, arXiv:2104.04473), 8 x
400 Gb/s (arXiv:2407.21783, section 3.3.1). Of other types those of the catalog's first system with it."""


def source_of(row):
    return next((said for name, said in SOURCES.items() if row["source"].startswith(name)), Source())


def published_at(row):
    """The number of an arXiv paper, as one; other sources count as late, the chronicles of BLOOM's first runs as of February 2022."""
    paper = re.match(r"arXiv:(\d{4}\.\d{5})", row["source"])
    return float(paper[1]) if paper else 2202.0 if row["source"].startswith("bigscience") else inf


def adapters(row):
    if stated := source_of(row).node_bytes_per_s or NODES.get(row["gpu"].partition("-")[0]):
        return stated
    found = [system.nics["compute"] for system in map(catalog.system, catalog.ids("systems")) if system.gpu == card(row["gpu"]).id and "compute" in system.nics]
    return found[0].count * found[0].gbps * 1e9 / 8 if found else None


def job(row):
    """The row as a job, for its memory and for its time; None when its model is unknown.

    Sources before FlashAttention stored attention matrices and used dropout, and waited for their messages: Megatron-LM of 2021 reduced
    gradients after the last backward pass, DeepSpeed's pipeline engine does to this day. Megatron sums gradients in fp32, and shards its
    optimizer where a row says ZeRO 1 or, after its paper on sequence parallelism, nothing else. Rows with ZeRO 2 or 3 ran FSDP where no
    source says otherwise. llm-foundry's FSDP reduces in fp32 but where its mode is PURE (precision bf16), and takes flash-attn's fused
    loss. Where layers do not divide, the ends count as layers.
    """
    model = model_of(row)
    if model is None:
        return None
    said, early = source_of(row), published_at(row) < FLASH
    zero, tensor, pipeline, gpus = number(row, "zero"), number(row, "tp", 1), number(row, "pp", 1), number(row, "n_gpus")
    framework = said.framework or ("fsdp" if (zero or 0) > 1 else "megatron")
    megatron, modern = framework == "megatron", published_at(row) > SEQUENCES
    ends = ends_of(model.layers, pipeline)
    virtual = number(row, "vpp") or ((model.layers + sum(ends)) // pipeline // said.layers_in_chunk if said.layers_in_chunk and pipeline > 1 else 1)
    spec = JobSpec(
        name=row["id"], model=model, gpu=card(row["gpu"]), nodes=-(-gpus // 8), gpus_per_node=min(gpus, 8),
        sequence=number(row, "seq"), global_batch=1, micro_batch=number(row, "mbs", 1),
        tensor=tensor, pipeline=pipeline, virtual=virtual, context=number(row, "cp", 1), expert=number(row, "ep", 1),
        data=number(row, "dp"), sequence_parallel=row["seq_par"] == "1" or (row["seq_par"] == "" and modern and tensor > 1 and megatron),
        framework=framework, framework_version=said.version,
        zero=0 if megatron else zero or 0, gradients="fp32" if megatron or row["precision"].startswith("amp") else "bf16",
        recompute=row["recompute"] or "none", flash_attention=not early, dropout=early, fused_loss=said.framework == "fsdp", fp8="fp8" in row["precision"],
        distributed_optimizer=megatron and (zero == 1 or (zero is None and modern)), embedding_as_layer=ends[0], loss_as_layer=ends[1],
        node_bytes_per_s=adapters(row), assume=Assumptions(**dict.fromkeys(("overlap_data", "overlap_pipeline"), 0.0)) if early and framework != "fsdp" else Assumptions(),
    )  # fmt: skip
    return replace(spec, global_batch=number(row, "gbs") or spec.micro_batch * max(spec.data_parallel, 1) * (pipeline if virtual > 1 else 1))


def ends_of(layers, pipeline):
    """Whether the embedding and the loss count as layers: only where the layers do not divide over the stages, and with them do."""
    return next((ends for ends in ((False, False), (True, True), (True, False)) if (layers + sum(ends)) % pipeline == 0), (False, False))


def refusals(spec):
    """What the arithmetic refuses, less what is refused only because no file of ours can ask for it, while the source's own script did:
    Megatron-DeepSpeed counts the ends as layers (``--pp-partition-method 'type:transformer|embedding'``), llm-foundry's FSDP has fp8."""
    scripts = {("deepspeed", "uneven-stages-refused"), ("fsdp", "fp8-refused")}
    return [f for f in errors(batch.check(spec)) if (spec.framework, f.slug) not in scripts]


def table_of(row, spec):
    """The memory table; with the gradients' sums cut over the copies where the source shards them, which no file of ours can ask of
    Megatron. The second copy of fp8 weights is Megatron's (``memory.fp8_bytes``)."""
    table = memory.table(replace(spec, fp8=spec.fp8 and spec.framework == "megatron"))
    if not source_of(row).shards_gradients:
        return table
    return replace(table, stages=tuple(replace(stage, gradients=-(-stage.gradients // (spec.data_parallel * spec.context))) for stage in table.stages))


def plan(row):
    """The row's one plan, judged and timed: its own, and where it states no recomputation the least that fits; None without a model."""
    spec = job(row)
    if spec is None or row["recompute"] or refusals(spec):
        return spec
    tries = [replace(spec, recompute=way) for way in WAYS]
    return next((s for s in tries if table_of(row, s).fits), tries[-1])


WAYS = ("none", "selective", "full")


def verdict(row):
    """``accept`` or ``refuse``. Memory counts where the row says something about it: a stated ``fits``, or a refusal.

    The source of the activation figures prints percentages and states of jobs that it never ran at that size; their rows
    expect acceptance of the arithmetic and leave ``fits`` empty.
    """
    spec = plan(row)
    if spec is None:
        return None
    if refusals(spec):
        return "refuse"
    if not row["fits"] and row["expect"] == "accept" and row["metric"] in ("params_opt_GiB", "act_pct_of_tp_baseline"):
        return "accept"
    return "accept" if table_of(row, spec).fits else "refuse"


@pytest.mark.parametrize("row", RUNS, ids=lambda row: row["id"])
def test_published_runs_are_accepted_or_refused_as_they_were(row):
    assert model_of(row) is not None, f"{row['model']}: neither the row nor model_shapes.csv nor the catalog has its layers, width and experts"
    assert verdict(row) == row["expect"]


@pytest.mark.parametrize("row", [r for r in RUNS if r["fits"]], ids=lambda row: row["id"])
def test_what_fitted_fits_and_what_did_not_does_not(row):
    table = table_of(row, plan(row))
    assert table.fits == (row["fits"] == "yes"), f"{table.worst.total / GIB:.1f} GiB of {table.capacity / GIB:.1f}"


def test_rows_whose_copies_do_not_fill_the_world_are_refused_for_that():
    """What no row of a folder may say: other copies than its GPUs make."""
    made = {r["id"]: number(r, "n_gpus") // (number(r, "tp", 1) * number(r, "pp", 1) * number(r, "cp", 1)) for r in RUNS}
    wrong = [r for r in RUNS if r["dp"] and int(r["dp"]) != made[r["id"]]]
    assert all(r["expect"] == "refuse" and "data-parallel-mismatch" in {f.slug for f in batch.check(job(r))} for r in wrong)
    right = next(r for r in RUNS if r["expect"] == "accept" and r["dp"] and r not in wrong)
    assert "data-parallel-mismatch" in {f.slug for f in batch.check(job(right | {"dp": str(2 * made[right["id"]])}))}


def test_where_recomputation_is_not_stated_the_least_that_fits_is_told(capsys):
    """The plan that is judged and timed in place of what the source leaves open; with less of it the job would not fit."""
    silent = [(row, plan(row)) for row in RUNS if not row["recompute"] and verdict(row) == "accept"]
    with capsys.disabled():
        print(f"\n{'recomputation not stated, least that fits':<44} way        GiB    room  with none")
        for row, spec in silent:
            table, none = table_of(row, spec), table_of(row, replace(spec, recompute="none"))
            print(f"{row['id']:<44} {spec.recompute:<9} {table.worst.total / GIB:>5.1f}  {table.capacity / GIB:>5.1f}  {none.worst.total / GIB:>9.1f}")
    for row, spec in silent:
        if row["metric"] != "params_opt_GiB":  # the source never ran these at that size
            assert table_of(row, spec).fits
        assert not any(table_of(row, replace(spec, recompute=way)).fits for way in WAYS[: WAYS.index(spec.recompute)])


BLANK = dict.fromkeys(rows("training_cases.csv", HERE)[0], "") | {"source": "arXiv:2501.00001", "precision": "bf16", "n_gpus": "64", "tp": "8", "mbs": "1", "gbs": "64", "seq": "4096", "gpu": "H100-80GB"}


@pytest.mark.parametrize(
    ("columns", "numbers"),
    [
        ({"model": "Mixtral-8x7B", "ep": "8"}, {"framework": "megatron", "sequence_parallel": True, "distributed_optimizer": True}),
        ({"model": "OPT-175B", "layers": "96", "hidden": "12288", "vocab": "50272", "zero": "3", "source": "arXiv:2205.01068"}, {"framework": "fsdp", "zero": 3, "flash_attention": False}),
        ({"model": "Falcon-180B", "layers": "80", "hidden": "14848", "heads": "232", "kv_heads": "8", "vocab": "65024", "zero": "1"}, {"zero": 0, "distributed_optimizer": True}),
        ({"model": "GPT 175B", "layers": "96", "hidden": "12288", "vocab": "51200", "zero": "0"}, {"distributed_optimizer": False}),
        ({"model": "BLOOM 176B", "pp": "12", "n_gpus": "384", "tp": "4", "source": "bigscience tr11"}, {"framework": "deepspeed", "embedding_as_layer": True, "loss_as_layer": True}),
    ],
    ids=lambda value: value.get("model"),
)  # fmt: skip
def test_columns_decide_what_a_row_of_any_folder_is(columns, numbers):
    """Of sources that this file does not know, but for BLOOM's."""
    spec = job(BLANK | columns)
    assert {name: getattr(spec, name) for name in numbers} == numbers
    assert not refusals(spec)


def test_the_catalog_completes_models_and_gpus_that_a_row_only_names():
    assert round(count(model_of(BLANK | {"model": "Mixtral-8x7B"}), 4096).total / 1e9, 1) == 46.7
    assert (card("H200-141GB").id, card("A100-40GB").id, card("H100-80GB").id, card("B200").id) == ("h200", "a100-40", "h100-sxm", "b200")
    assert adapters(BLANK | {"gpu": "H200-141GB"}) == 8 * 400e9 / 8
    with pytest.raises(AssertionError, match="the catalog has no such GPU"):
        card("V100-32GB")


def test_a_row_with_a_share_of_the_peak_alone_is_timed():
    row = BLANK | {"model": "Llama-3-70B", "expect": "accept", "mfu_pct": "40"}
    (found,) = speeds([row])
    assert found[2] == measured_s(row | {"mfu_pct": "", "tflops_per_gpu": str(0.4 * 989)}, job(row)) > 0


@pytest.mark.parametrize("row", [r for r in RUNS if r["metric"] == "act_GiB_stage0"], ids=lambda row: row["id"])
def test_activations_to_a_hundredth_of_a_gib(row):
    assert activations.stored_bytes(job(row), 0) / GIB == pytest.approx(float(row["value"]), abs=0.01)


@pytest.mark.parametrize("row", [r for r in RUNS if r["metric"] == "act_pct_of_tp_baseline"], ids=lambda row: row["id"])
def test_activations_as_a_share_of_plain_tensor_parallelism(row):
    """The source's shares also count the embedding and the output layer, so ours differ in the third digit."""
    spec = job(row)
    plain = replace(spec, sequence_parallel=False, recompute="none")
    share = 100 * activations.stored_layer_bytes(spec) / activations.stored_layer_bytes(plain)
    assert share == pytest.approx(float(row["value"]), rel=0.003)


@pytest.mark.parametrize("row", [r for r in RUNS if r["metric"] == "params_opt_GiB"], ids=lambda row: row["id"])
def test_states_within_half_a_per_cent(row):
    spec = job(row)
    layers = shard(spec, spec.pipeline - 1).layers
    assert sum(states.state_bytes(spec, layers)) / GIB == pytest.approx(float(row["value"]), rel=0.005)


@pytest.mark.parametrize("row", [r for r in RUNS if r["params_b"] and model_of(r)], ids=lambda row: row["id"])
def test_parameter_counts_as_printed(row):
    digits = len(row["params_b"].partition(".")[2])
    assert round(count(model_of(row), int(row["seq"])).total / 1e9, digits) == float(row["params_b"])


@pytest.mark.parametrize("row", rows("mpt_parameters.csv", HERE), ids=lambda row: f"{row['model']}-{row['seq']}")
def test_parameter_counts_of_mpt_are_exact(row):
    """What mosaicml/llm-foundry, scripts/train/benchmarking/README.md, prints as NumParams; the position table is as long as the sequence."""
    model = catalog.model(row["model"]).model_copy(update={"max_sequence": int(row["seq"])})
    assert count(model, int(row["seq"])).total == int(row["parameters"])


def in_use(spec):
    """GB on the fullest GPU as nvidia-smi shows them, MiB over 1024: our sum and what the driver and NCCL take."""
    table = memory.table(spec)
    return (table.worst.total + table.context_bytes) / GIB


def prototype(row):
    """A row of bloom_memory.csv: bigscience/train/tr11-176B-ml/chronicles-prequel.md, tables with a memory column that are not in
    training_cases.csv. From 28 February 2022 on gradients were summed in fp32 and sent in bf16 (deepspeedai/DeepSpeed, branch
    olruwase/bf16-updates, engine.py), and the ends counted as layers."""
    n = {key: int(row[key]) for key in ("layers", "hidden", "heads", "tp", "pp", "dp", "mbs", "ends_as_layers")}
    model = catalog.model("bloom-176b").model_copy(update={
        "layers": n["layers"], "hidden": n["hidden"], "heads": n["heads"], "kv_heads": n["heads"], "head_dim": n["hidden"] // n["heads"], "ffn_hidden": 4 * n["hidden"],
    })  # fmt: skip
    return JobSpec(
        name="prototype", model=model, gpu=CARDS["A100-80GB"], nodes=n["tp"] * n["pp"] * n["dp"] // 8, gpus_per_node=8, sequence=2048,
        global_batch=2048 // (n["mbs"] * n["dp"]) * n["mbs"] * n["dp"], micro_batch=n["mbs"], tensor=n["tp"], pipeline=n["pp"], framework="deepspeed", zero=1,
        gradients=row["gradients"], gradients_sent="bf16", recompute="full", flash_attention=False, dropout=True,
        embedding_as_layer=bool(n["ends_as_layers"]), loss_as_layer=bool(n["ends_as_layers"]),
    )  # fmt: skip


def test_total_memory_is_within_ten_per_cent(capsys):
    """BLOOM's prototypes: every row of the cases within 10 %; of the further rows of the same source nine of ten, and none far off."""
    runs = [(row["id"], float(row["value"]), job(row)) for row in RUNS if row["metric"] == "mem_GB_total"]
    assert runs or CASES != HERE
    off = {name: (theirs, in_use(spec)) for name, theirs, spec in runs}
    errors_ = {name: ours / theirs - 1 for name, (theirs, ours) in off.items()}
    further = [(row, float(row["mem_GB_total"]), in_use(prototype(row))) for row in rows("bloom_memory.csv", HERE) if row["mem_GB_total"] != "OOM" and not row["doubt"]]
    apart = [ours / theirs - 1 for _, theirs, ours in further]
    with capsys.disabled():
        print(f"\n{'memory in use on the fullest GPU':<34} theirs    ours   error")
        for name, (theirs, ours) in off.items():
            print(f"{name:<34} {theirs:>6.0f} {ours:>7.1f} {errors_[name]:>+7.1%}")
        if errors_:
            print(f"{len(errors_)} rows: mean {mean(errors_.values()):+.1%}, median of the sizes {median(map(abs, errors_.values())):.1%}")
        print(f"{len(apart)} further rows: mean {mean(apart):+.1%}, {sum(abs(e) <= 0.10 for e in apart)} within 10 %, from {min(apart):+.1%} to {max(apart):+.1%}")
    assert all(abs(error) <= 0.10 for error in errors_.values()), errors_
    assert len(apart) == 59 and sum(abs(error) <= 0.10 for error in apart) >= 0.9 * len(apart)
    assert max(map(abs, apart)) <= 0.16


def test_prototypes_that_were_out_of_memory_are_refused():
    lost = [row for row in rows("bloom_memory.csv", HERE) if row["mem_GB_total"] == "OOM" and not row["doubt"]]
    assert len(lost) == 2
    assert not any(memory.table(prototype(row)).fits for row in lost)


# Step times.

def measured_s(row, spec):
    """Seconds of a step as the source has them; None where it prints no speed. TFLOP/s of arXiv:2104.04473 count the repeated forward
    pass (its equation 3), all others the model's operations."""
    tokens = spec.global_batch * spec.sequence
    if row["step_s"]:
        return float(row["step_s"])
    if row["tokens_per_s_per_gpu"]:
        return tokens / spec.world / float(row["tokens_per_s_per_gpu"])
    if row["metric"] == "HFU_TFLOPs_per_GPU":
        h, s, layers = spec.model.hidden, spec.sequence, spec.model.layers
        per_token = 96 * layers * h * h * (1 + s / (6 * h) + spec.model.vocabulary / (16 * layers * h))
        return per_token * tokens / spec.world / float(row["value"]) / 1e12
    each = float(row["tflops_per_gpu"] or 0) * 1e12 or float(row["mfu_pct"] or 0) / 100 * spec.gpu.bf16_tflops * 1e12
    return flops.model_flops(spec) / spec.world / each if each else None


def speeds(table):
    """Row, job and measured seconds of all accepted rows with a speed."""
    for row in table:
        spec = plan(row) if row["expect"] == "accept" else None
        seconds = spec and spec.node_bytes_per_s and measured_s(row, spec)
        if seconds:
            yield row, spec, seconds


@pytest.mark.parametrize("row", [r for r in RUNS if r["source"].startswith("mosaicml")], ids=lambda row: row["id"])
def test_operations_are_counted_as_llm_foundry_counts_them(row):
    """Its MFU out of its tokens a second: 6 operations a parameter and 12Lhs for attention, over the peak of the precision. It counts
    the position table too, with which nothing is multiplied."""
    spec = plan(row)
    per_token = flops.model_flops(spec) / (spec.global_batch * spec.sequence) + 6 * position_rows(spec.model, spec.sequence) * spec.model.hidden
    peak = spec.gpu.bf16_tflops * (2 if spec.fp8 else 1) * 1e12
    assert 100 * per_token * float(row["tokens_per_s_per_gpu"]) / peak == pytest.approx(float(row["mfu_pct"]), rel=0.01)


FITTED = {name: CARDS[name].efficiency for name in CARDS}


def test_step_times_are_near(capsys):
    """Median error at most 8 %, nine rows of ten within 20 %, of all rows and of each GPU type that ten or more are of; rows that shares were fitted on are left out."""
    fitted = {name for known in FITTED.values() for name in known.fitted}
    off: dict[str, dict[str, float]] = {}
    for row, spec, seconds in speeds(RUNS):
        if row["id"] not in fitted:
            off.setdefault(row["gpu"], {})[row["id"]] = step.step(spec).seconds / seconds - 1
    if not off:
        pytest.skip("no row of this folder prints a speed")
    off["all"] = {name: error for errors in off.values() for name, error in errors.items()}
    with capsys.disabled():
        print(f"\n{'step time, ours against theirs':<32} {'rows':>5} {'median':>8} {'within 20 %':>12} {'bias':>7}  farthest")
        for gpu, errors in off.items():
            worst = max(errors, key=lambda name: abs(errors[name]))
            near = sum(abs(e) <= 0.20 for e in errors.values()) / len(errors)
            print(f"{gpu:<32} {len(errors):>5} {median(map(abs, errors.values())):>8.1%} {near:>12.0%} {median(errors.values()):>+7.1%}  {worst} {errors[worst]:+.1%}")
        if os.environ.get("IACGEN_ERRORS"):
            print("\n".join(f"{name:<44} {error:+.1%}" for name, error in off["all"].items()))
    for gpu, errors in off.items():
        if gpu != "all" and len(errors) < 10:  # a few runs of one source say little of a type
            continue
        assert median(map(abs, errors.values())) <= 0.08
        assert sum(abs(e) <= 0.20 for e in errors.values()) >= 0.9 * len(errors)


OWN = rows("training_cases.csv", HERE)


@pytest.mark.parametrize("gpu", CARDS)
def test_no_more_than_a_tenth_of_the_rows_of_a_gpu_is_fitted_on(gpu):
    ours = {row["id"] for row in OWN if row["gpu"] == gpu}
    assert set(FITTED[gpu].fitted) <= ours
    assert len(FITTED[gpu].fitted) <= len(ours) / 10


SHARES = ("matmul", "attention", "unfused")


@pytest.mark.parametrize("gpu", CARDS)
def test_shares_of_the_catalog_are_what_its_rows_give(gpu):
    """Least squares of the relative errors by Gauss and Newton; no share of the matrices above the best measured product. The share of
    misaligned products is fitted with those of the 80 GB A100, whose rows alone have any."""
    names = (*SHARES, "misaligned") if gpu == "A100-80GB" else SHARES
    card = CARDS[gpu]
    jobs = [(spec, seconds) for row, spec, seconds in speeds(OWN) if row["id"] in FITTED[gpu].fitted]

    def errors_at(x):
        shares = dict(zip(names, map(float, x), strict=True))
        return np.array([step.step(replace(spec, assume=replace(spec.assume, **shares))).seconds / seconds - 1 for spec, seconds in jobs])

    most = np.array([card.best_gemm_tflops / card.bf16_tflops] + [1.0] * (len(names) - 1))
    x, free = np.array([0.8, 0.25, 0.5, 0.6][: len(names)]), np.ones(len(names), dtype=bool)
    for _ in range(20):
        here = errors_at(x)
        slopes = np.stack([(errors_at(x + 1e-4 * unit) - here) / 1e-4 for unit in np.eye(len(x))], axis=1)
        x[free] -= np.linalg.lstsq(slopes[:, free], here, rcond=None)[0]
        free &= x < most
        x = np.minimum(x, most)
    stated = [getattr(FITTED[gpu], name) for name in SHARES] + [Assumptions().misaligned]
    assert x == pytest.approx(stated[: len(names)], abs=0.006)
