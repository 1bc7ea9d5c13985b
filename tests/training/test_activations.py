"""Activations against the closed formulas and the figures of arXiv:2205.05198."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.training import activations

GIB = 2**30


def published_formula(layers, s, b, h, a, t, p, m, sequence_parallel, recompute):
    """First stage, in bytes: equations 1 to 6 of arXiv:2205.05198."""
    if recompute == "full":
        layer = Fraction(2 * s * b * h, t if sequence_parallel else 1)
    else:
        attention = Fraction(0) if recompute == "selective" else Fraction(5 * a * s, h)
        layer = s * b * h * ((34 + attention) / t if sequence_parallel else 10 + Fraction(24, t) + attention / t)
    return layer * layers * (1 + Fraction(p - 1, p * m) if m > 1 else 1)


@pytest.fixture(scope="module")
def paper(pretrain, gpt):
    """A job of the paper: GPT with dropout, before flash attention, enough micro batches to fill the pipeline."""

    def job(layers, hidden, heads, **numbers):
        spec = replace(pretrain, context=1, sequence_parallel=False, recompute="none", flash_attention=False, dropout=True, sequence=2048, virtual=1)
        return replace(spec, model=gpt(layers, hidden, heads, 51200), **numbers)

    return job


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "pipeline", "virtual", "micro_batch", "options", "gib"),
    [
        (48, 6144, 64, 1, 1, 4, {}, 59.25),
        (96, 12288, 96, 8, 3, 1, {"sequence_parallel": True, "recompute": "selective"}, 12.3515625),
        (105, 20480, 128, 35, 3, 1, {}, 114.0234375),
        (128, 25600, 160, 64, 1, 1, {"sequence_parallel": True, "recompute": "selective"}, 26.5625),
    ],
)
def test_published_activation_figures_to_a_hundredth(paper, layers, hidden, heads, pipeline, virtual, micro_batch, options, gib):
    spec = paper(layers, hidden, heads, nodes=pipeline, pipeline=pipeline, virtual=virtual, micro_batch=micro_batch, global_batch=8 * micro_batch * pipeline, **options)
    assert activations.stored_bytes(spec, 0) / GIB == pytest.approx(gib, abs=0.01)


@given(data=st.data())
def test_the_lines_add_up_to_the_published_formula(paper, data):
    t = data.draw(st.sampled_from([1, 2, 4, 8]))
    p, m = data.draw(st.sampled_from([(1, 1), (2, 1), (4, 1), (2, 3), (4, 2)]))
    a, width = data.draw(st.sampled_from([8, 16, 32])), data.draw(st.sampled_from([64, 128]))
    layers, b, s = 2 * p * m, data.draw(st.integers(1, 4)), data.draw(st.sampled_from([512, 2048]))
    sequence_parallel, recompute = data.draw(st.booleans()), data.draw(st.sampled_from(["none", "selective", "full"]))
    spec = paper(
        layers, a * width, a, nodes=p, tensor=t, pipeline=p, virtual=m, micro_batch=b, sequence=s, global_batch=b * 64,
        sequence_parallel=sequence_parallel, recompute=recompute,
    )  # fmt: skip
    expected = published_formula(layers, s, b, a * width, a, t, p, m, sequence_parallel, recompute)
    assert activations.stored_bytes(spec, 0) == expected


@given(data=st.data())
def test_a_later_stage_never_holds_more(pretrain, data):
    p, v = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    steps = p * data.draw(st.integers(1, 3)) if v > 1 else data.draw(st.integers(1, 20))
    model = pretrain.model.model_copy(update={"layers": 2 * p * v})
    spec = replace(pretrain, model=model, nodes=2 * p, pipeline=p, virtual=v if p > 1 else 1, global_batch=steps)
    held = [activations.layers_in_flight(spec, stage) for stage in range(p)]
    assert held == sorted(held, reverse=True)
    assert held[-1] >= model.layers / p / spec.virtual
    assert held[0] <= model.layers // p * spec.micro_batches


def in_flight_by_schedule(p, v, steps, stage):
    """Chunks whose activations are held at the peak, by playing the schedule: warm-up forwards, then one forward, one backward."""
    total = steps * v
    warm_up = min(p - stage - 1 if v == 1 else 2 * (p - stage - 1) + (v - 1) * p, total)
    held = peak = warm_up
    for _ in range(total - warm_up):
        held += 1
        peak = max(peak, held)
        held -= 1
    return peak


@pytest.mark.parametrize(("p", "v", "steps"), [(4, 1, 2), (4, 1, 16), (4, 2, 4), (4, 3, 8), (9, 7, 36), (8, 1, 1)])
def test_layers_in_flight_are_those_of_the_schedule(pretrain, p, v, steps):
    model = pretrain.model.model_copy(update={"layers": 2 * p * v})
    spec = replace(pretrain, model=model, nodes=2 * p, pipeline=p, virtual=v, global_batch=steps)
    assert [activations.layers_in_flight(spec, stage) for stage in range(p)] == [2 * in_flight_by_schedule(p, v, steps, stage) for stage in range(p)]


def test_a_layer_counted_tensor_by_tensor(pretrain):
    """Llama 3.1 405B with sequence parallelism: the tensors that autograd saves, one by one."""
    spec = replace(pretrain, context=1)
    s, h, f, heads, groups, d, t = 8192, 16384, 53248, 128, 8, 128, 8
    norms = 2 * (s * h // t)
    inputs = 2 * (s * h // t)
    attention = s * (heads * d + 2 * groups * d + heads * d) // t
    feed_forward = 3 * s * f // t
    logsumexp = 4 * s * heads // t
    assert activations.layer_bytes(spec, attention_matrix=False) == 2 * (norms + inputs + attention + feed_forward) + logsumexp


def test_context_parallelism_divides_what_is_stored(pretrain):
    one, two = (activations.stored_layer_bytes(replace(pretrain, context=c)) for c in (1, 2))
    assert one == 2 * two


def test_deepspeed_pipelines_keep_the_output_of_a_stage(finetune):
    spec = replace(finetune, pipeline=4, zero=1)
    layers = [activations.layers_in_flight(spec, stage) * activations.stored_layer_bytes(spec) for stage in range(4)]
    # 64 copies work through 4 micro batches; all four are in flight on the first stage, three on the second, which also has its inputs.
    more = [activations.stored_bytes(spec, stage) - layers[stage] for stage in range(4)]
    assert more == [n * 2 * 8192 * 8192 for n in (4, 2 * 3, 2 * 2, 1)]


def test_a_layer_of_experts_counted_tensor_by_tensor(moe):
    """Mixtral 8x7B, tensor 2 with sequence parallelism: each GPU sends its 2,048 tokens to two experts each, and receives as many."""
    s, h, f, d, t = 4096, 4096, 14336, 128, 2
    norms, inputs = 2 * (s * h // t), 2 * (s * h // t)
    attention = s * (32 * d + 2 * 8 * d + 32 * d) // t
    routed = 2 * (s // t)
    experts = routed * (2 * h + 3 * f)
    scores = 2 * (s // t) * 8  # the router's and their softmax, fp32
    logsumexp = 4 * s * 32 // t
    assert activations.layer_bytes(moe, attention_matrix=False, experts=True) == 2 * (norms + inputs + attention + experts) + 4 * scores + logsumexp


def test_a_tensor_group_of_experts_works_on_the_tokens_of_all_its_gpus(moe):
    one, two = activations.routed_tokens(moe), activations.routed_tokens(replace(moe, expert_tensor=2))
    assert two == 2 * one
    assert activations.routed_tokens(replace(moe, expert_capacity=1.25)) == 1.25 * one


def test_latent_attention_counted_tensor_by_tensor(moe):
    """DeepSeek-V3, arXiv:2412.19437: the narrow vectors before and behind their norms, keys and values of 128 heads, a shared expert."""
    spec = replace(moe, model=catalog.model("deepseek-v3"), tensor=1, pipeline=1, nodes=8, sequence_parallel=False)
    s, h = 4096, 7168
    shared = s * (4 * h + 2 * 1536 + (512 + 64) + 512)
    heads = s * 128 * (2 * (128 + 64) + 2 * 128)
    experts = s * (8 * (2 * h + 3 * 2048) + 3 * 2048)
    assert activations.layer_bytes(spec, attention_matrix=False, experts=True) == 2 * (shared + heads + experts) + 8 * 256 * s + 4 * 128 * s
    ordinary = activations.layer_bytes(spec, attention_matrix=False)
    assert ordinary == 2 * (shared + heads + 3 * 18432 * s) + 4 * 128 * s


def test_the_first_stage_holds_the_ordinary_layers(moe):
    """61 layers of which three have no experts: stages of 13, 12, 12, 12, 12."""
    spec = replace(moe, model=catalog.model("deepseek-v3"), pipeline=5, nodes=40, global_batch=3200, first_layers=13, tensor=1, sequence_parallel=False)
    one = 3 * activations.stored_layer_bytes(spec) + 10 * activations.stored_layer_bytes(spec, experts=True)
    assert activations.stored_bytes(spec, 0) == 5 * one
    assert activations.stored_bytes(spec, 4) == 12 * activations.stored_layer_bytes(spec, experts=True)


def test_dropout_keeps_a_mask_behind_the_embedding(paper):
    """sbhp/t, arXiv:2205.05198, section 4.3."""
    spec = paper(96, 12288, 96, nodes=8, pipeline=8, global_batch=64, sequence_parallel=True)
    assert activations.embedding_bytes(spec, 0) == 2048 * 12288 * 8 // 8
    assert activations.embedding_bytes(spec, 1) == activations.embedding_bytes(replace(spec, dropout=False), 0) == 0
