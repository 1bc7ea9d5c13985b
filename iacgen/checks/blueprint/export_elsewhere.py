"""A file system that exports to a bucket of another site.

Why: each site is a Terraform root of its own, which cannot name the other's bucket: the plan fails. The service wants both in one
region, too.

Bad::

    storage:
      fsx: {kind: fsx-lustre, site: ohio, capacity: 48000GiB, mount: /fsx, exports_to: checkpoints}
      checkpoints: {kind: s3, site: oregon}

Good: ``checkpoints: {kind: s3, site: ohio}``.

Source: Amazon FSx for Lustre user guide, data repository associations; spore-host/spawn#103.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...blueprint.storage import FsxLustre
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC274", "export-elsewhere")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in blueprint.storage.items():
        if isinstance(store, FsxLustre) and store.exports_to:
            site = blueprint.storage[store.exports_to].site
            if site != store.site:
                related = (Related(("storage", store.exports_to, "site"), "where it lies"), Related(("storage", name, "site"), "where the file system is"))
                yield Found(f"{store.exports_to} lies at {site}, the file system at {store.site}", ("storage", name, "exports_to"), related)
