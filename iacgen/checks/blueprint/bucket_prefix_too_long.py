"""A bucket whose derived name is too long.

Why: without ``bucket_prefix`` a bucket is called after the cluster and the section. Of 63 characters AWS needs 26 to make the name
unique; the Terraform root refuses a prefix that is longer than what is left.

Bad::

    name: llama-pretraining-production
    storage:
      checkpoints: {kind: s3, site: ohio}

Good: ``checkpoints: {kind: s3, site: ohio, bucket_prefix: llama-checkpoints}``.

Source: Amazon S3 user guide, bucket naming rules; Terraform's bucket_prefix takes 37 characters; aws-parallelcluster#6548, names that
are found too long when the stack fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import S3
from ..duties import bucket_prefix
from ..rule import Found, rule

LONGEST = 37


@rule("IAC276", "bucket-prefix-too-long")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        if isinstance(store, S3) and len(prefix := bucket_prefix(blueprint, name, store)) > LONGEST:
            message = f"the bucket would be called {prefix}-...: {len(prefix)} characters, {LONGEST} are left"
            yield Found(message, ("storage", name), help="set bucket_prefix", on_key=True)
