"""Machines of a hall on no management network, where there is one.

Why: Ansible, Slurm and NCCL's first contact reach a machine at its management address. iacgen plans none for these, so their names
must resolve by some other means, of which no file knows.

Bad::

    fabrics:
      mgmt: {purpose: management, connects: [gpu]}

Good: ``connects: [gpu, ctl]``.

Source: DGX SuperPOD reference architecture H100, in-band management network: every node is on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC532", "off-management", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    managed = {fabric.site for fabric in subject.design.fabrics.values() if fabric.purpose in ("management", "in-band")}
    for pool in subject.design.pools.values():
        if pool.site in managed and "management" in pool.system.nics and not subject.design.management_of(pool.name):
            yield Found(f"{pool.name} is on no management network of {pool.site}", ("nodes", pool.name), on_key=True)
