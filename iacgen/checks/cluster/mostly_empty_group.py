"""A group of a dragonfly that is less than half full.

Why: the routers of a group are laid in full, and cabled to each other and to every other group, whatever hosts stand below them. A few
hosts cost as many switches and long cables as a whole group.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 18}
    fabrics:
      compute: {topology: dragonfly, group: {hosts: 16, leaves: 4, links: 4}}

Good: ``count: 16``, or groups of a size that divides the count better.

Source: Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology (ISCA 2008): a group acts as one router of all its ports.
"""

from __future__ import annotations

from collections.abc import Iterator

from iacgen.design.fabric.dragonfly import Dragonfly

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC642", "mostly-empty-group", "info", lab=None)
def check(subject: Subject) -> Iterator[Found]:
    for name, wanted in subject.blueprint.fabrics.items():
        fabric = subject.design.fabrics[name]
        if not isinstance(fabric.trunks, Dragonfly) or len(fabric.pods) < 2:
            continue
        last = [fabric.groups[index] for index in fabric.pods[-1].groups]
        taken = sum(fabric.leaf_ports(host) for group in last for host in group.hosts)
        room = len(last) * fabric.trunks.hosts
        if 2 * taken < room:
            switches = len(last) + fabric.trunks.spines
            yield Found(f"{taken} of {room} host ports in the last group are taken, and {switches} switches stand for them", ("fabrics", name, "group" if wanted.group else "topology"))
