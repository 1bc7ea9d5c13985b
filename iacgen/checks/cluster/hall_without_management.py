"""A hall without a network over which its machines are reached.

Why: Ansible connects to a machine, Slurm's controller to its nodes, and NCCL makes its first contact, at an address of a management
or an in-band network. Without one iacgen plans no such address: the inventory and slurm.conf hold bare names, and what they resolve to
no file knows. A single machine is reached as it always was.

Bad::

    fabrics:
      compute: {site: hall, purpose: compute, connects: [gpu]}   # and no other

Good: ``mgmt: {site: hall, purpose: management, connects: [gpu, ctl], technology: ethernet, switch: sn2201}`` beside it.

Source: DGX SuperPOD reference architecture H100, in-band management network: it carries Slurm, SSH and all other services of the
cluster, and every node is on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

REACHED_OVER = ("management", "in-band")


@rule("IAC599", "hall-without-management", "warning", lab="info")
def check(subject: Subject) -> Iterator[Found]:
    managed = {fabric.site for fabric in subject.design.fabrics.values() if fabric.purpose in REACHED_OVER}
    for site in subject.design.facilities:
        pools = [pool for pool in subject.design.pools.values() if pool.site == site and "management" in pool.system.nics]
        machines = sum(pool.count for pool in pools)
        if site not in managed and machines > 1:
            names = ", ".join(pool.name for pool in pools)
            keys = f"{{site: {site}, purpose: management, connects: [{names}], technology: ethernet}}"
            message = f"no management or in-band network gives the {machines:,} machines of {site} addresses at which Ansible and Slurm reach them"
            yield Found(message, ("sites", site), help=f"add to fabrics a network of {keys}", on_key=True)
