"""Files of a data set that the copies of the model cannot share out evenly.

Why: each copy reads files of its own. With three files for two copies one of them has twice the data of the other, and an epoch ends when
the first runs out; with fewer files than copies some have none.

Bad::

    training:
      vision: {nodes: gpu, count: 4, framework: deepspeed, input: {shards: 100}}    # 32 copies

Good: ``shards: 128``, or any multiple of 32.

Source: tf.data.Dataset.shard and webdataset's split_by_node deal files out in turn.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC593", "uneven-shards", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        shards, copies = job.reading.input.shards, job.spec.data_parallel
        if shards and job.spec.framework != "megatron" and shards % copies:
            below = shards // copies * copies
            choices = " or ".join(str(n) for n in (below, below + copies) if n)
            yield Found(f"{shards} files for {copies} copies of the model", ("training", name, "input", "shards"), help=f"make it {choices} files")
