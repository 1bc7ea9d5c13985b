"""Things that stand in the wrong kind of place: cloud machines in a hall, racks in a cloud, parts of one thing apart."""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...blueprint.storage import Lustre
from ...diagnostics import Diagnostic


def site_kinds(blueprint: Blueprint) -> Iterator[Diagnostic]:
    """IAC207 wrong-kind-of-site, IAC208 parts-at-two-sites, IAC209 zone-outside-region."""
    kinds = {name: site.kind for name, site in blueprint.sites.items()}
    for name, site in blueprint.sites.items():
        if site.kind == "aws" and not site.zone.startswith(site.region):
            yield Diagnostic("IAC209", "zone-outside-region", "error", f"zone {site.zone} is not in {site.region}", ("sites", name, "zone"))
    for name, pool in blueprint.nodes.items():
        offered = catalog.system(pool.system).cloud
        provider, kind = (offered.provider if offered else "on-prem"), kinds[pool.site]
        if provider != kind:
            message = f"{pool.system} is {f'a machine type of {provider}' if offered else 'a machine of your own'} and site {pool.site} is {kind}"
            yield Diagnostic("IAC207", "wrong-kind-of-site", "error", message, ("nodes", name, "system"))
        if pool.capacity and kind == "on-prem":
            yield Diagnostic("IAC207", "wrong-kind-of-site", "error", "capacity is bought in a cloud; this site is on-prem", ("nodes", name, "capacity"), on_key=True)
    for name, fabric in blueprint.fabrics.items():
        if kinds[fabric.site] != "on-prem":
            yield Diagnostic("IAC207", "wrong-kind-of-site", "error", "a cloud brings its own fabric; leave this section out", ("fabrics", name, "site"))
        for i, pool_name in enumerate(fabric.connects):
            if blueprint.nodes[pool_name].site != fabric.site:
                message = f"{pool_name} stands at {blueprint.nodes[pool_name].site}, the fabric at {fabric.site}"
                yield Diagnostic("IAC208", "parts-at-two-sites", "error", message, ("fabrics", name, "connects", i))
            elif pool_name in fabric.connects[:i]:
                yield Diagnostic("IAC208", "parts-at-two-sites", "error", f"{pool_name} is listed twice", ("fabrics", name, "connects", i))
    for name, store in blueprint.storage.items():
        if (store.kind == "lustre") != (kinds[store.site] == "on-prem"):
            yield Diagnostic("IAC207", "wrong-kind-of-site", "error", f"{store.kind} does not stand at a site of kind {kinds[store.site]}", ("storage", name, "kind"))
        elif isinstance(store, Lustre):
            yield from _lustre(blueprint, name, store)


def _lustre(blueprint: Blueprint, name: str, store: Lustre) -> Iterator[Diagnostic]:
    connects = blueprint.fabrics[store.fabric].connects
    for field, pool in (("servers", store.servers), ("metadata", store.metadata)):
        if pool not in connects:
            yield Diagnostic("IAC208", "parts-at-two-sites", "error", f"{pool} is not on the fabric {store.fabric} that carries the file system", ("storage", name, field))
