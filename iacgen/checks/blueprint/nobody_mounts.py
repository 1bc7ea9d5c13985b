"""A Lustre file system that no host can mount.

Why: its fabric connects its own servers alone. The servers are built, formatted and paid for, and nobody sees a file.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [oss, mds], technology: infiniband, switch: qm9700}

Good: ``connects: [oss, mds, worker]``.

Source: az-hop#448.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import has_gpus, lustre_servers, lustres
from ..rule import Found, rule


@rule("IAC270", "nobody-mounts", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    servers = lustre_servers(blueprint)
    for name, store in lustres(blueprint).items():
        clients = set(blueprint.fabrics[store.fabric].connects) - servers
        others = any(pool.site == store.site and has_gpus(blueprint, other) for other, pool in blueprint.nodes.items() if other not in servers)
        if not clients and not others:  # GPU nodes that are left out are a finding of their own
            yield Found(f"the fabric {store.fabric} connects servers alone", ("storage", name, "fabric"))
