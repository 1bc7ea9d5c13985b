"""Published training runs: which are refused, and how far our memory and our step times lie from theirs.

The folder of ``training_cases.csv`` is IACGEN_CASES where that is set, else ``tests/cases``. A row becomes a job by its columns;
what its source does not print, and what no column holds, comes from the few rules of ``job`` below.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass, replace
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


SHAPES = {row["model"]: row for row in rows("model_shapes.csv", HERE)}
CARDS = {
    "A100-40GB": catalog.gpu("a100-40"),
    "A100-80GB": catalog.gpu("a100-80"),
    "H100-80GB": catalog.gpu("h100-sxm"),
}
RUNS = rows("training_cases.csv", CASES)


def number(row, column, default=None):
    return int(row[column]) if row.get(column) else default


def model_of(row):
    """The row's model; None when neither the row nor model_shapes.csv says how large it is."""
    known = SHAPES.get(row["model"], {})
    layers, hidden, vocabulary = (number(row, c) or number(known, c) for c in ("layers", "hidden", "vocab"))
    if not (layers and hidden and vocabulary):
        return None
    heads = number(row, "heads") or number(known, "heads") or nearest_heads(hidden, number(row, "tp", 1))
    llama = "llama" in row["model"].lower()
    return catalog.Shape(
        id="published", name=row["model"], layers=layers, hidden=hidden, heads=heads, kv_heads=number(row, "kv_heads", heads), head_dim=hidden // heads,
        ffn_hidden=number(row, "ffn", 4 * hidden), vocabulary=vocabulary, tied_embeddings=not llama, gated_ffn=llama,
        norm="rmsnorm" if llama else "layernorm", norm_epsilon=1e-5, bias="none" if llama else "all",
        positions="rope" if llama else "learned", rope_base=500_000 if llama else None, max_sequence=number(row, "seq"),
    )  # fmt: skip


def nearest_heads(hidden, tensor):
    """Heads where a source does not print them: of a size near 128, dividing the width and divided by the tensor size."""
    return min((n for n in range(tensor, hidden, tensor) if hidden % n == 0), key=lambda n: abs(hidden / n - 128))


def job(row):
    """The row as a job; None when its model is unknown.

    Sources before FlashAttention (arXiv:2205.14135) stored attention matrices and used dropout; the GPT papers sum gradients in
    fp32. BLOOM's prototypes ran under the DeepSpeed of February 2022. llm-foundry runs FSDP, which reduces in fp32 but where its
    mode is PURE (precision bf16), and takes flash-attn's fused loss. Llama 3 reduces in fp32, shards its optimizer, uses sequence
    parallelism and counts embedding and loss as layers (arXiv:2407.21783, section 3.3.2).
    """
    model = model_of(row)
    if model is None:
        return None
    source, zero = row["source"], number(row, "zero")
    foundry = "llm-foundry" in source
    early = source.startswith(("arXiv:2205.05198", "arXiv:2104.04473", "bigscience"))
    paper = source.startswith("arXiv:")
    llama = model.gated_ffn
    tensor, gpus = number(row, "tp", 1), number(row, "n_gpus")
    pipeline = number(row, "pp", 1)
    uneven = llama and model.layers % pipeline != 0
    spec = JobSpec(
        name=row["id"], model=model, gpu=CARDS[row["gpu"]], nodes=-(-gpus // 8), gpus_per_node=min(gpus, 8),
        sequence=number(row, "seq"), global_batch=1, micro_batch=number(row, "mbs", 1),
        tensor=tensor, pipeline=pipeline, virtual=number(row, "vpp", 1), context=number(row, "cp", 1), expert=number(row, "ep", 1),
        data=number(row, "dp"), sequence_parallel=row["seq_par"] == "1" or (llama and tensor > 1),
        framework="megatron" if paper else "fsdp" if foundry else "deepspeed", framework_version=(0, 5, 10) if early and not paper else (),
        zero=0 if paper else zero or 0, gradients="fp32" if paper or row["precision"].startswith("amp") else "bf16",
        recompute=row["recompute"] or "none", flash_attention=not early, dropout=early, fused_loss=foundry, distributed_optimizer=llama,
        embedding_as_layer=uneven, loss_as_layer=uneven,
    )  # fmt: skip
    return replace(spec, global_batch=number(row, "gbs") or spec.micro_batch * max(spec.data_parallel, 1))


def lightest(row, spec):
    """Where a row states no recomputation, the least that fits; else the row's own."""
    ways = [row["recompute"]] if row["recompute"] else ["none", "selective", "full"]
    tries = [replace(spec, recompute=way) for way in ways]
    return next((s for s in tries if memory.table(s).fits), tries[-1])


def verdict(row):
    """``accept`` or ``refuse``. Memory counts where the row says something about it: a stated ``fits``, or a refusal.

    The source of the activation figures prints percentages and states of jobs that it never ran at that size; their rows
    expect acceptance of the arithmetic and leave ``fits`` empty.
    """
    spec = job(row)
    if spec is None:
        return None
    if errors(batch.check(spec)):
        return "refuse"
    if not row["fits"] and row["expect"] == "accept" and row["metric"] in ("params_opt_GiB", "act_pct_of_tp_baseline"):
        return "accept"
    return "accept" if memory.table(lightest(row, spec)).fits else "refuse"


@pytest.mark.parametrize("row", RUNS, ids=lambda row: row["id"])
def test_published_runs_are_accepted_or_refused_as_they_were(row):
    assert model_of(row) is not None, f"{row['model']}: model_shapes.csv lacks its layers and width"
    assert verdict(row) == row["expect"]


@pytest.mark.parametrize("row", [r for r in RUNS if r["fits"]], ids=lambda row: row["id"])
def test_what_fitted_fits_and_what_did_not_does_not(row):
    table = memory.table(lightest(row, job(row)))
    assert table.fits == (row["fits"] == "yes"), f"{table.worst.total / GIB:.1f} GiB of {table.capacity / GIB:.1f}"


def test_the_row_whose_copies_do_not_fill_the_world_is_refused_for_that():
    (row,) = [r for r in RUNS if r["id"] == "llama3-405b-3-dp4"]
    assert "data-parallel-mismatch" in {finding.slug for finding in batch.check(job(row))}


def test_where_recomputation_is_not_stated_the_least_that_fits_is_told(capsys):
    """The plan that is judged in place of what the source leaves open; with less of it the job would not fit."""
    silent = [(row, lightest(row, job(row))) for row in RUNS if not row["recompute"] and verdict(row) == "accept"]
    with capsys.disabled():
        print(f"\n{'recomputation not stated, least that fits':<44} way        GiB    room")
        for row, spec in silent:
            table = memory.table(spec)
            print(f"{row['id']:<44} {spec.recompute:<9} {table.worst.total / GIB:>5.1f}  {table.capacity / GIB:>5.1f}")
    ways = ["none", "selective", "full"]
    for row, spec in silent:
        if row["metric"] != "params_opt_GiB":  # the source never ran these at that size
            assert memory.table(spec).fits
        assert not any(memory.table(replace(spec, recompute=way)).fits for way in ways[: ways.index(spec.recompute)])


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
    off = {name: (theirs, in_use(spec)) for name, theirs, spec in runs}
    errors_ = {name: ours / theirs - 1 for name, (theirs, ours) in off.items()}
    further = [(row, float(row["mem_GB_total"]), in_use(prototype(row))) for row in rows("bloom_memory.csv", HERE) if row["mem_GB_total"] != "OOM" and not row["doubt"]]
    apart = [ours / theirs - 1 for _, theirs, ours in further]
    with capsys.disabled():
        print(f"\n{'memory in use on the fullest GPU':<34} theirs    ours   error")
        for name, (theirs, ours) in off.items():
            print(f"{name:<34} {theirs:>6.0f} {ours:>7.1f} {errors_[name]:>+7.1%}")
        print(f"{len(errors_)} rows: mean {mean(errors_.values()):+.1%}, median of the sizes {median(map(abs, errors_.values())):.1%}")
        print(f"{len(apart)} further rows: mean {mean(apart):+.1%}, {sum(abs(e) <= 0.10 for e in apart)} within 10 %, from {min(apart):+.1%} to {max(apart):+.1%}")
    assert len(errors_) == 23 and all(abs(error) <= 0.10 for error in errors_.values()), errors_
    assert len(apart) == 59 and sum(abs(error) <= 0.10 for error in apart) >= 0.9 * len(apart)
    assert max(map(abs, apart)) <= 0.16


def test_prototypes_that_were_out_of_memory_are_refused():
    lost = [row for row in rows("bloom_memory.csv", HERE) if row["mem_GB_total"] == "OOM" and not row["doubt"]]
    assert len(lost) == 2
    assert not any(memory.table(prototype(row)).fits for row in lost)


# Step times.

HEADS = {"BLOOM-proto 20B": 32, "BLOOM-proto 18B": 64, "BLOOM-proto 181B": 64, "BLOOM-proto 196B": 64} | dict.fromkeys(
    (f"BLOOM-proto {size}B" for size in (183, 194, 195, 200)), 96
)
"""Attention heads that bigscience's chronicles-prequel.md prints beside its tables; the tables of hidden size 14400 are taken to keep 96."""


@dataclass(frozen=True)
class Machine:
    """Where a source ran: bytes a second of a node's adapters, and what its software did not overlap."""

    node_bytes_per_s: float
    overlaps: tuple[tuple[str, float], ...] = ()


NO_OVERLAP = (("overlap_data", 0.0), ("overlap_pipeline", 0.0))
MACHINES = (
    # Selene: 8 x HDR 200 Gb/s; its Megatron-LM of 2021 reduced gradients after the last backward pass and waited for its messages.
    ("arXiv:2104.04473", "A100", Machine(200e9, NO_OVERLAP)),
    ("arXiv:2205.05198", "A100", Machine(200e9, NO_OVERLAP)),
    # Jean Zay: 4 x Omni-Path 100 Gb/s; DeepSpeed's pipeline engine does the same to this day.
    ("bigscience", "A100", Machine(50e9, NO_OVERLAP)),
    # Others: 8 x 200 Gb/s beside A100 (llm-foundry's "1600 Gbps node-node interconnect"), 8 x 400 Gb/s beside H100 (arXiv:2407.21783, section 3.3.1).
    ("", "A100", Machine(200e9)),
    ("", "H100", Machine(400e9)),
)


def timed(row):
    """The row as a job to time; None when its model or its machine is unknown.

    Llama 3 ran without recomputation and interleaved, in how many chunks is not printed: one layer in each is taken
    (arXiv:2407.21783, sections 3.3.1 and 3.3.2).
    """
    spec = job(row | {"heads": row["heads"] or str(HEADS.get(row["model"], ""))})
    machine = next((m for source, gpu, m in MACHINES if row["source"].startswith(source) and row["gpu"].startswith(gpu)), None)
    if spec is None or machine is None:
        return None
    spec = replace(spec, node_bytes_per_s=machine.node_bytes_per_s, fp8="fp8" in row["precision"], assume=Assumptions(**dict(machine.overlaps)))
    if row["source"].startswith("arXiv:2407.21783") and not row["vpp"]:
        spec = replace(spec, virtual=8, recompute=row["recompute"] or "none")
    return spec


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
    if row["tflops_per_gpu"]:
        return flops.model_flops(spec) / spec.world / float(row["tflops_per_gpu"]) / 1e12
    return None


def speeds(table):
    """Row, job and measured seconds of all accepted rows with a speed."""
    for row in table:
        spec = timed(row) if row["expect"] == "accept" else None
        seconds = spec and measured_s(row, spec)
        if seconds:
            yield row, spec, seconds


@pytest.mark.parametrize("row", [r for r in RUNS if r["source"].startswith("mosaicml")], ids=lambda row: row["id"])
def test_operations_are_counted_as_llm_foundry_counts_them(row):
    """Its MFU out of its tokens a second: 6 operations a parameter and 12Lhs for attention, over the peak of the precision. It counts
    the position table too, with which nothing is multiplied."""
    spec = timed(row)
    per_token = flops.model_flops(spec) / (spec.global_batch * spec.sequence) + 6 * position_rows(spec.model, spec.sequence) * spec.model.hidden
    peak = spec.gpu.bf16_tflops * (2 if spec.fp8 else 1) * 1e12
    assert 100 * per_token * float(row["tokens_per_s_per_gpu"]) / peak == pytest.approx(float(row["mfu_pct"]), rel=0.01)


FITTED = {name: catalog.gpu(CARDS[name].id).efficiency for name in CARDS}


def test_step_times_are_near(capsys):
    """Median error at most 8 %, nine rows of ten within 20 %, of all rows and of each GPU type; rows that shares were fitted on are left out."""
    fitted = {name for known in FITTED.values() for name in known.fitted}
    off: dict[str, dict[str, float]] = {}
    for row, spec, seconds in speeds(RUNS):
        if row["id"] not in fitted:
            off.setdefault(row["gpu"], {})[row["id"]] = step.step(spec).seconds / seconds - 1
    off["all"] = {name: error for errors in off.values() for name, error in errors.items()}
    with capsys.disabled():
        print(f"\n{'step time, ours against theirs':<32} {'rows':>5} {'median':>8} {'within 20 %':>12} {'bias':>7}  farthest")
        for gpu, errors in off.items():
            worst = max(errors, key=lambda name: abs(errors[name]))
            near = sum(abs(e) <= 0.20 for e in errors.values()) / len(errors)
            print(f"{gpu:<32} {len(errors):>5} {median(map(abs, errors.values())):>8.1%} {near:>12.0%} {median(errors.values()):>+7.1%}  {worst} {errors[worst]:+.1%}")
        if os.environ.get("IACGEN_ERRORS"):
            print("\n".join(f"{name:<44} {error:+.1%}" for name, error in off["all"].items()))
    for errors in off.values():
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
