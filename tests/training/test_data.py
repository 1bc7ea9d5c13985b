"""The data path: rates, workers, buffers and what lies where, by hand calculations and against megatron-core."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen import catalog
from iacgen.training.data import BUSY, Cache, Input, Stage, reading, token_bytes
from iacgen.verify import programs


@pytest.fixture(scope="module")
def vision(finetune):
    """256 GPUs that each take one sample of 150 kB, 600 kB in memory, of a batch of 1,024; 28 processors a rank."""
    return replace(finetune, global_batch=1024, host_cpus=224, input=Input(sample_bytes=150_000, loaded_bytes=600_000, prepare_s=0.040))


def test_samples_and_bytes_follow_from_batch_and_step(vision):
    it = reading(vision, step_s=0.5)
    assert it.samples_per_s == 2048
    assert it.bytes_per_s == 2048 * 150_000  # 307.2 MB/s
    assert (it.copies, it.readers, it.node_readers) == (1, 256, 8)


def test_workers_are_busy_for_three_quarters_of_their_time_at_most(vision):
    """8 samples a second and rank of 40 ms each are 0.32 s of work a second: two workers. At 0.8 s each 6.4 s of work: nine."""
    assert reading(vision, step_s=0.5).workers == 2
    slow = reading(replace(vision, input=replace(vision.input, prepare_s=0.8)), step_s=0.5)
    assert (slow.wanted_workers, slow.workers) == (ceil(8 * 0.8 / BUSY), 9)


def test_a_rank_keeps_two_processors(vision):
    crushed = reading(replace(vision, input=replace(vision.input, prepare_s=10.0)), step_s=0.5)
    assert (crushed.wanted_workers, crushed.workers, crushed.threads) == (107, 26, 2)


def test_no_more_workers_than_files_of_a_copy(vision):
    few = reading(replace(vision, input=replace(vision.input, prepare_s=0.8, shards=256 * 3)), step_s=0.5)
    assert (few.reader_shards, few.wanted_workers, few.workers) == (3, 9, 3)


def test_what_is_read_ahead_bridges_the_silence(vision):
    """8 batches a second and rank; 5 s without an answer are 40 batches, 20 for each of two workers."""
    it = reading(replace(vision, input=replace(vision.input, silence_s=5.0)), step_s=0.5)
    assert it.prefetch == 20
    assert it.buffer_bytes == 8 * (2 * 20 + 1) * 600_000  # eight ranks on a node, and one batch more that is pinned


@given(st.floats(0.05, 60), st.floats(0.001, 5), st.floats(0.1, 60))
def test_prefetched_batches_always_last_for_the_silence(vision, step_s, prepare_s, silence_s):
    it = reading(replace(vision, input=replace(vision.input, prepare_s=prepare_s, silence_s=silence_s)), step_s)
    taken = it.samples_per_s / vision.data_parallel / vision.micro_batch * silence_s
    assert it.workers * it.prefetch >= taken * (1 - 1e-12)
    assert 1 <= it.workers <= 26


def test_what_the_blueprint_says_holds(vision):
    it = reading(replace(vision, input=replace(vision.input, workers=5, prefetch=7)), step_s=0.5)
    assert (it.workers, it.prefetch) == (5, 7)


def test_tf_data_reads_ahead_for_the_whole_pipeline(vision):
    it = reading(replace(vision, input=replace(vision.input, library="tf.data", silence_s=5.0)), step_s=0.5)
    assert it.prefetch == 40
    assert it.buffer_bytes == 8 * (40 + it.workers) * 600_000


def test_megatron_reads_on_the_ends_of_the_pipeline_and_in_each_part_of_a_sequence(pretrain):
    """TP 8, CP 2, PP 9, DP 7: tensor rank 0 of first and last stage, both context ranks. A node of eight GPUs has one such rank."""
    it = reading(pretrain, step_s=10)
    assert (it.copies, it.readers, it.node_readers) == (4, 28, 1)
    assert it.sample_bytes == 8193 * 4  # a vocabulary of 128,256
    assert it.bytes_per_s == pytest.approx(252 / 10 * 8193 * 4 * 4)
    assert it.loaded_bytes == 8192 * 28


@pytest.mark.judge("megatron")
def test_a_token_on_disk_is_as_wide_as_megatron_core_makes_it(pretrain):
    python = programs.find("megatron").path
    sizes = (32_000, 50_257, 65_499, 65_500, 128_256, 250_880)
    ask = f"import json; from megatron.core.datasets.indexed_dataset import DType; print(json.dumps([DType.size(DType.optimal_dtype(n)) for n in {sizes}]))"
    said = subprocess.run([python, "-c", ask], capture_output=True, text=True, timeout=300, check=True).stdout
    widths = json.loads(said.strip().splitlines()[-1])
    models = [pretrain.model.model_copy(update={"vocabulary": n}) for n in sizes]
    assert [token_bytes(replace(pretrain, model=model, sequence=1023)) // 1024 for model in models] == widths


@pytest.mark.parametrize(
    ("told", "size"),
    [
        (Input(size_bytes=10**12, stage=Stage("s3://a", "/raid", local=True)), 10**12),
        (Input(size_bytes=10**12, stage=Stage("s3://a", "/raid", local=True, share=True)), 10**12 // 32),
        (Input(size_bytes=10**12, stage=Stage("s3://a", "/scratch", local=False)), 0),
        (Input(size_bytes=10**12, cache=Cache("nvme", path="/raid")), 10**12),
        (Input(size_bytes=10**12, cache=Cache("nvme", path="/raid", bytes=10**11)), 10**11),
        (Input(stage=Stage("s3://a", "/raid", local=True)), None),
        (Input(), 0),
    ],
)
def test_what_lies_on_a_node(finetune, told, size):
    assert reading(replace(finetune, input=told), step_s=1).node_bytes == size


def test_a_cache_of_servers_keeps_part_of_their_memory(finetune):
    """Four hosts of 384 GiB: Redis gets three quarters of it, memcached nine tenths."""
    gib = catalog.system("generic-1u").memory_gib * 2**30
    of = lambda kind: reading(replace(finetune, input=Input(cache=Cache(kind, pool="cache", servers=4, memory_bytes=gib))), step_s=1).cached_bytes / 2**30  # noqa: E731
    assert (of("redis"), of("memcached")) == (4 * 288, pytest.approx(4 * 345.6))


def test_nothing_is_said_of_threads_where_nobody_knows_the_processors(finetune):
    assert reading(finetune, step_s=1).threads is None
