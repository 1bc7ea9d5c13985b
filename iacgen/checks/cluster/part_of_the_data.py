"""A part of the data on each node for copies of the model that are not on one node, or for Megatron.

Why: what a node has, its own ranks can read and no others. A copy of the model that spreads over nodes needs the same samples on all of
them, and Megatron maps whole files at the same path on every node.

Bad::

    training:
      pretrain: {framework: megatron, input: {stage: {source: "s3://acme-corpus/v3", target: /raid/corpus, share: true}}}

Good: ``share: false``, or a file system that all nodes mount as the target.

Source: Megatron-LM, IndexedDataset maps the files of --data-path in each rank that loads.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC597", "part-of-the-data")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        stage, spec = job.reading.input.stage, job.spec
        if not (stage and stage.share):
            continue
        at = ("training", name, "input", "stage", "share")
        if not stage.local:
            yield Found("the data are staged to a store that is one for all nodes: no node has a part of its own there", at, help="leave share out")
        elif spec.framework == "megatron":
            yield Found("Megatron reads whole files on every node, and each has a part of them", at, help="leave share out")
        elif spec.model_parallel > spec.gpus_per_node:
            yield Found(f"a copy of the model takes {spec.model_parallel} GPUs, more than the {spec.gpus_per_node} of a node that reads its part", at, help="leave share out")
