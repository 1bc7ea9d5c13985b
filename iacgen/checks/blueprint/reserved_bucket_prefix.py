"""A bucket name that begins with what S3 keeps for itself.

Why: the provider takes the name in validate and plan; S3 refuses it when the bucket is made.

Bad::

    storage:
      checkpoints: {kind: s3, site: ohio, bucket_prefix: sthree-checkpoints}

Good: ``bucket_prefix: team-checkpoints``.

Source: Amazon S3 user guide, bucket naming rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import S3
from ..duties import bucket_prefix
from ..rule import Found, rule

RESERVED = ("xn--", "sthree-", "amzn-s3-demo-")


@rule("IAC275", "reserved-bucket-prefix")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        if isinstance(store, S3) and (prefix := bucket_prefix(blueprint, name, store)).startswith(RESERVED):
            own = store.bucket_prefix == prefix
            path = ("storage", name, "bucket_prefix") if own else ("storage", name)
            yield Found(f"the bucket would be called {prefix}-...; S3 keeps {', '.join(RESERVED)} for itself", path, help=None if own else "set bucket_prefix", on_key=not own)
