"""Many machines whose storage or management hangs on one switch.

Why: when it fails, or is given new firmware, all of them lose it at once, and every job with them.

Bad::

    fabrics:
      storage: {connects: [gpu, oss, mds], switch: qm9700}

Good: a switch with fewer ports, so that there are two leaves and spines, or accept it knowingly.

Source: DGX SuperPOD reference architecture H100, storage fabric: each node is on two switches; the limit of 8 machines is a judgement.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

MANY = 8  # machines


@rule("IAC526", "one-switch", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        fabric = subject.design.fabrics[name]
        hosts = sum(len(group.hosts) for group in fabric.groups)
        if fabric.switches == 1 and hosts > MANY:
            yield Found(f"{hosts} machines are cut off when the one switch of {name} is down", ("fabrics", name), on_key=True)
