"""Links of one cage that need different cables.

Why: a cage takes one plug. A twin-port transceiver serves two links of one speed over fibres of one kind, so a port of 200 Gb/s beside
one of 400 Gb/s stays dark, and the order has parts that nothing takes.

Bad::

    nodes:
      gpu: {system: dgx-h100, count: 31}
      ufm: {system: generic-1u, count: 2}       # ports of 200 Gb/s beside the last node's of 400
    fabrics:
      compute: {connects: [gpu], topology: rail-fat-tree, switch: qm9700, unit: 32, manager: {kind: ufm, pool: ufm}}

Good: managers with ports of the fabric's speed, ``ufm: {system: generic-1u-ndr, count: 2}``.

Source: NVIDIA MMS4X00-NS400 and MMA1Z00-NS400-T product specifications: both fibres of a twin-port transceiver are straight, or both are
split.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.facility.cables import crowded
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC579", "unlike-cables-in-a-cage", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name, fabric in subject.design.fabrics.items():
        facility = subject.design.facilities.get(fabric.site)
        found = crowded(facility, fabric) if facility and fabric.tiers else []
        if not found:
            continue
        cage, more = found[0], f", and {len(found) - 1:,} more cages" if len(found) > 1 else ""
        needed = " and ".join(f"{cable.model} ({cable.gbps} Gb/s)" for cable in cage.cables)
        message = f"cage {cage.cage} of {cage.device} takes one plug, and its links need {needed}{more}"
        if fabric.manager and fabric.manager.ports and any(cable.gbps not in fabric.link_gbps.values() for cable in cage.cables):
            yield Found(message, ("fabrics", name, "manager"), help=f"a manager with ports of {max(fabric.link_gbps.values())} Gb/s")
        else:
            yield Found(message, ("fabrics", name), on_key=True)
