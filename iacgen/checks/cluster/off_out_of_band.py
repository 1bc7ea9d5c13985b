"""Machines of a hall on no out-of-band network, where there is one.

Why: a machine that hangs, or that has no system yet, is looked at, switched off and installed by its management controller. The
network of the controllers reaches those of the other machines and not these.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 32}
      ctl: {site: hall, system: generic-1u, count: 2}
    fabrics:
      oob: {site: hall, purpose: out-of-band, connects: [gpu], technology: ethernet, switch: sn2201}

Good: ``connects: [gpu, ctl]``; the order is the address plan, so append.

Source: DGX SuperPOD reference architecture H100, out-of-band management network: it connects the controllers of all machines, and all
other devices that are to be managed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC566", "off-out-of-band", "info")
def check(subject: Subject) -> Iterator[Found]:
    networks = {fabric.site: name for name, fabric in subject.design.fabrics.items() if fabric.purpose == "out-of-band"}
    for pool in subject.design.pools.values():
        if (network := networks.get(pool.site)) and "out-of-band" in pool.system.nics and not subject.design.fabric_of(pool.name, "out-of-band"):
            message = f"no out-of-band network of {pool.site} reaches the management controllers of {pool.name}"
            yield Found(message, ("nodes", pool.name), help=f"append {pool.name} to fabrics.{network}.connects", on_key=True)
