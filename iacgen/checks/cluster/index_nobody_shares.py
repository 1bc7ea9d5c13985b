"""A copy of Megatron's data on each node, and no folder that all nodes see for its index.

Why: rank 0 builds the index of samples and shuffles, and all others read its files. Beside the data they lie on the NVMe of rank 0's node
alone, and the ranks of other nodes end with a file that is not there.

Bad::

    training:
      pretrain: {framework: megatron, count: 4, data: /raid/corpus, input: {stage: {source: "s3://acme-corpus/v3", target: /raid/corpus}}}

Good: with ``checkpoint: {to: scratch}`` the index goes to that file system, by --data-cache-path.

Source: megatron-core 0.16, GPTDataset._build_document_sample_shuffle_indices: rank 0 writes, the others load after a barrier.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC598", "index-nobody-shares")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        stage, spec = job.reading.input.stage, job.spec
        mount = getattr(subject.design.storage.get(spec.checkpoint_to or ""), "mount", None)
        if spec.framework == "megatron" and stage and stage.local and spec.nodes > 1 and mount is None:
            yield Found(f"{stage.target} is another folder on each node, and nothing that all of them mount takes the index", ("training", name, "input", "stage", "target"), help="set checkpoint.to to a file system that the nodes mount")
