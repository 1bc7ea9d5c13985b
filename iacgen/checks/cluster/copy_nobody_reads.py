"""Data that is copied before the start and lies elsewhere than the job reads.

Why: the copy takes its time and its disk, and the training script reads the data where ``data`` says: from somewhere else, or nothing.

Bad::

    training:
      pretrain: {data: /scratch/corpus, input: {stage: {source: "s3://acme-corpus/v3", target: /raid/corpus}}}

Good: ``data: /raid/corpus``.

Source: Megatron-LM, --data-path; the word TRAIN_DATA of job.env.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import Related
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC594", "copy-nobody-reads", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, job in subject.jobs.items():
        stage, path = job.reading.input.stage, job.spec.data_path
        if stage and path and not f"{path}/".startswith(f"{stage.target}/"):
            yield Found(f"the copy goes to {stage.target}, and the job reads {path}", ("training", name, "data"), (Related(("training", name, "input", "stage", "target"), "the copy"),))
