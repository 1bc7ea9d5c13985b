"""Leaves with more links to one spine than to another.

Why: a rotating split fills all spines alike where the uplinks do not divide by them, but two leaves then share more links over one spine
than over the next. Flows of a shift of ranks meet on the thinner pairs, and links of the thicker ones stay idle.

Bad::

    fabrics:
      compute: {topology: rail-fat-tree, unit: 32, split: rotating, spines: 12}

Good: a number of spines that divides the uplinks of a leaf, which ``split: equal`` finds.

Source: Oracle Exadata and SuperCluster multi-rack cabling guides, three racks: 3 + 3 + 2 links of eight; measured with OpenSM 3.3.23
(ftree) on ibsim: 24 leaves on 12 spines of two or three links a pair leave 64 of 1,536 directed links unused.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...design.fabric.tree import Tree
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC568", "unequal-uplinks", "warning")
def check(subject: Subject) -> Iterator[Found]:
    for name in subject.blueprint.fabrics:
        trunks = subject.design.fabrics[name].trunks
        if isinstance(trunks, Tree) and trunks.rotating and (more := trunks.uplinks % trunks.size.spines):
            fewest = trunks.uplinks // trunks.size.spines
            yield Found(f"a leaf has {fewest + 1} links to {more} of its {trunks.size.spines} spines and {fewest} to the others", ("fabrics", name, "split"))
