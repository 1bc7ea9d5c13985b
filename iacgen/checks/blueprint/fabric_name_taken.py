"""A fabric with the name of a cloud pool's own fabric.

Why: each cloud pool with GPUs brings a fabric that the cloud hides, called after the pool: ``gpu-efa``. A fabric of that name would be
replaced by it in every file, cables and all.

Bad::

    nodes:
      gpu: {site: ohio, system: p5.48xlarge, count: 4}
    fabrics:
      gpu-efa: {site: hall, purpose: compute, connects: [dgx], technology: infiniband, switch: qm9700, manager: {kind: opensm, pool: dgx}}

Good: any other name, such as ``compute``.

Source: cluster-toolkit PR#476, two names that fall together silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import aws_sites, has_gpus
from ..rule import Found, rule


@rule("IAC282", "fabric-name-taken")
def check(blueprint: Blueprint) -> Iterator[Found]:
    sites = aws_sites(blueprint)
    hidden = {f"{name}-efa": name for name, pool in blueprint.nodes.items() if pool.site in sites and has_gpus(blueprint, name)}
    for name in blueprint.fabrics:
        if name in hidden:
            yield Found(f"the cloud fabric of pool {hidden[name]} has this name", ("fabrics", name), (Related(("nodes", hidden[name]), "the pool"),), on_key=True)
