"""Lustre file systems of one hall on two fabrics.

Why: a client has one LNet network here, with the interfaces of one fabric and its traffic class. The second file system would be looked
for on the first one's network, and never be found.

Bad::

    storage:
      scratch: {kind: lustre, servers: oss, metadata: mds, fabric: storage}
      home: {kind: lustre, servers: oss-b, metadata: mds-b, fabric: compute}

Good: both on one fabric.

Source: bluebanquise#1009, a client of two LNet networks that got one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC273", "two-lustre-networks")
def check(blueprint: Blueprint) -> Iterator[Found]:
    first: dict[str, str] = {}
    for name, store in lustres(blueprint).items():
        other = first.setdefault(store.site, name)
        if (theirs := lustres(blueprint)[other].fabric) != store.fabric:
            yield Found(f"storage.{other} of this site is on {theirs}", ("storage", name, "fabric"))
