"""A subnet manager on hosts of another site.

Why: a subnet manager talks to its switches through InfiniBand ports of its own, by cables that end in the hall of the fabric. On hosts
elsewhere, or in a cloud, it reaches none of them, and no port of the fabric comes up.

Bad::

    sites:
      hall: {kind: on-prem}
      annex: {kind: on-prem}
    nodes:
      gpu: {site: hall, system: dgx-h100, count: 32}
      ufm: {site: annex, system: generic-1u, count: 2}
    fabrics:
      compute: {site: hall, purpose: compute, connects: [gpu], technology: infiniband, switch: qm9700, manager: {kind: ufm, pool: ufm}}

Good: ``ufm: {site: hall, system: generic-1u, count: 2}``.

Source: opensm(8), which binds to the GUID of a local port; DGX SuperPOD reference architecture H100: UFM hosts are cabled to leaf
switches of the fabric.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC296", "manager-elsewhere")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, fabric in blueprint.fabrics.items():
        if fabric.manager and fabric.manager.pool not in fabric.connects and (theirs := blueprint.nodes[fabric.manager.pool].site) != fabric.site:
            related = (Related(("nodes", fabric.manager.pool, "site"), "where it stands"), Related(("fabrics", name, "site"), "where the fabric is"))
            yield Found(f"{fabric.manager.pool} stands at {theirs}, the fabric at {fabric.site}", ("fabrics", name, "manager", "pool"), related)
