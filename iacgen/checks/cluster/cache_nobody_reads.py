"""A cache, or batches read ahead, of a job whose program knows neither.

Why: Megatron-LM reads its own indexed files and asks the environment for nothing: it has arguments for the processes of its loader, for the
folder of its indices and, with data in an object store alone, for copies of these. A cache that is paid for stays empty.

Bad::

    training:
      pretrain: {framework: megatron, input: {cache: {kind: nvme, path: /raid/cache}}}

Good: ``input: {stage: {source: "s3://acme-corpus/v3", target: /raid/corpus}}``, which copies the data before the start.

Source: Megatron-LM, megatron/training/arguments.py, _add_data_args: --data-cache-path, --num-workers, --object-storage-cache-path; megatron-core
0.16, object_storage_utils.py, is_object_storage_path: s3:// and msc:// alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC660", "cache-nobody-reads", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        told = job.reading.input
        if job.spec.framework != "megatron":
            continue
        if told.cache:
            yield Found("Megatron-LM reads no cache", ("training", name, "input", "cache"), help="use input.stage, which copies the data before the start, or leave the cache out")
        if told.prefetch:
            yield Found("Megatron-LM takes no number of batches to read ahead", ("training", name, "input", "prefetch"), help="leave it out")
        if told.library == "tf.data":
            yield Found("Megatron-LM loads by PyTorch", ("training", name, "input", "loader"), help="leave it out")
