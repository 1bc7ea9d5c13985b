"""A site where no machine stands.

Why: a cloud site is a network with a gateway that is paid by the hour, and a file system there has nobody to mount it. A hall
without machines has no files at all. Most often the machines name another site by mistake.

Bad::

    sites:
      ohio: {kind: aws, region: us-east-2, zone: us-east-2a}
      oregon: {kind: aws, region: us-west-2, zone: us-west-2a, network: 10.65.0.0/16}
    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 16}

Good: leave ``oregon`` out until something stands there.

Source: cluster-toolkit's validator test_module_not_used.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..rule import Found, rule


@rule("IAC241", "empty-site", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    used = {pool.site for pool in blueprint.nodes.values()}
    for name in blueprint.sites:
        if name not in used:
            yield Found(f"no pool of machines stands at {name}", ("sites", name), on_key=True)
