"""Activations against the closed formulas and the figures of arXiv:2205.05198."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    layers = activations.layers_in_flight(spec, 0) * activations.stored_layer_bytes(spec)
    # 64 copies work through 4 micro batches; all four are in flight on the first stage.
    assert activations.stored_bytes(spec, 0) - layers == 4 * 2 * 8192 * 8192
