"""An interface's name on a fabric that no rank meets over.

Why: the name goes into NCCL's and PyTorch's settings of the network that carries plain TCP between GPU hosts, and nowhere else: one on
another network changes nothing.

Bad::

    fabrics:
      compute: {purpose: compute, technology: infiniband, interface: ib0}
      mgmt: {purpose: management, technology: ethernet}

Good: ``interface`` on ``mgmt``.

Source: NCCL user guide, NCCL_SOCKET_IFNAME.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC662", "interface-nobody-uses", "warning")
def check(subject: Subject) -> Iterator[Found]:
    design = subject.design
    used = {carrier.name for pool in design.pools if design.pools[pool].gpu and (carrier := design.carrier_of(pool))}
    for name, fabric in subject.blueprint.fabrics.items():
        if fabric.interface and name not in used:
            yield Found("no rank of a job meets another over this network", ("fabrics", name, "interface"), help=f"name that of {' or '.join(sorted(used))}" if used else "leave it out")
