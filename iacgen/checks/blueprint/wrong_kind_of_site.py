"""A thing at a site of the wrong kind.

Why: a cloud sells its own machine types, brings its own fabric and storage, and has no rack to put a server into; a hall has no
instance type and no capacity to buy. The files for such a thing would be written for nobody.

Bad::

    sites:
      hall: {kind: on-prem}
    nodes:
      gpu: {site: hall, system: p5.48xlarge, count: 4}

Good::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 4}

Source: cluster-toolkit checks that a machine type exists in its zone before anything is built (validators test_zone_exists and
test_machine_type_in_zone).
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC207", "wrong-kind-of-site")
def check(blueprint: Blueprint) -> Iterator[Found]:
    kinds = {name: site.kind for name, site in blueprint.sites.items()}
    for name, pool in blueprint.nodes.items():
        offered, kind = catalog.system(pool.system).cloud, kinds[pool.site]
        if (offered.provider if offered else "on-prem") != kind:
            what = f"a machine type of {offered.provider}" if offered else "a machine of your own"
            yield Found(f"{pool.system} is {what} and site {pool.site} is {kind}", ("nodes", name, "system"), _site(pool.site))
        for key in ("capacity", "placement_group", "efa"):
            if getattr(pool, key) is not None and kind == "on-prem":
                yield Found(f"{key} is a matter of clouds; this site is on-prem", ("nodes", name, key), _site(pool.site), on_key=True)
    for name, fabric in blueprint.fabrics.items():
        if kinds[fabric.site] != "on-prem":
            yield Found("a cloud brings its own fabric; leave this section out", ("fabrics", name, "site"), _site(fabric.site))
    for name, store in blueprint.storage.items():
        if (store.kind == "lustre") != (kinds[store.site] == "on-prem"):
            yield Found(f"{store.kind} does not stand at a site of kind {kinds[store.site]}", ("storage", name, "kind"), _site(store.site))


def _site(name: str) -> tuple[Related, ...]:
    return (Related(("sites", name, "kind"), "the kind of the site"),)
