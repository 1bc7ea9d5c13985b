"""Jobs on the servers of a file system.

Why: a job that fills memory or crashes the host takes a part of every file with it, and all other jobs hang. Lustre's servers run
another kernel than its clients, and a host should not be both.

Bad::

    storage:
      scratch: {kind: lustre, servers: oss, metadata: mds}
    scheduler:
      partitions: {all: {nodes: [gpu, oss]}}

Good: ``all: {nodes: [gpu]}``.

Source: Lustre operations manual: a client on an OSS can deadlock when memory is short.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import lustres, queues
from ..rule import Found, rule


@rule("IAC278", "jobs-on-servers", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    served = {pool: name for name, store in lustres(blueprint).items() for pool in (store.servers, store.metadata)}
    for name, pools in queues(blueprint).items():
        for i, pool in enumerate(pools):
            if pool in served:
                given = blueprint.scheduler and blueprint.scheduler.partitions is not None
                path = ("scheduler", "partitions", name, "nodes", i) if given else ("nodes", pool)
                yield Found(f"partition {name} runs jobs on {pool}, which serves Lustre", path, (Related(("storage", served[pool]), "what it serves"),), on_key=not given)
