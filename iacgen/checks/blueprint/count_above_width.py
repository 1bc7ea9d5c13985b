"""A pool whose host names cannot count it.

Why: the digits of a host number are fixed by ``width``, so that growth renames nobody. A count that needs more digits would
break that promise: every file that names a host would change, and Terraform would replace the machines.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 12000}

Good::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 12000, width: 5}

Source: names whose padding follows the count are the second most frequent bug of generated host lists (clustershell#293,
parallelly#140).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC203", "count-above-width")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, pool in blueprint.nodes.items():
        if pool.count >= 10**pool.width:
            digits = len(str(pool.count))
            message = f"{pool.count:,} hosts need {digits} digits and nodes.{name}.width is {pool.width}"
            related = (Related(("nodes", name, "width"), "changing it renames every host of the pool"),)
            yield Found(message, ("nodes", name, "count"), related, f"set nodes.{name}.width: {digits}")
