"""A RoCE fabric on switches that do not run the operating system that their files are written for.

Why: a configuration is written for one system, Cumulus or SONiC. A switch that runs another, or for which no port layout of SONiC at
the speed of the links is known, cannot take it: the names of its ports would be guesses.

Bad::

    fabrics:
      compute: {technology: roce, switch: sn5610, os: sonic}

Good: ``os: cumulus``, or ``switch: sn5600``.

Source: sonic-net/sonic-buildimage, folder device; NVIDIA Cumulus Linux, what is new, platforms.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.sound import runs
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC578", "switch-without-that-os")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        path = ("fabrics", name, "os" if subject.blueprint.fabrics[name].os else "switch")
        for switch in dict.fromkeys(tier.switch for tier in fabric.tiers) if fabric.os else ():
            fastest = max(fabric.link_gbps.values())
            if fabric.os not in switch.software:
                yield Found(f"{switch.name} does not run {fabric.os}", path, help=f"it runs {', '.join(switch.software)}" if switch.software else None)
            elif not runs(switch, fabric.os, fastest):
                yield Found(f"the catalog knows no port layout of SONiC for {switch.name} at {fastest}G", path)
