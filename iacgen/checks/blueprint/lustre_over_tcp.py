"""Lustre over plain Ethernet.

Why: over InfiniBand or RoCE the adapter moves the data; over TCP the processors of servers and clients do, at a fraction of the rate,
and a stalled connection hangs jobs.

Bad::

    fabrics:
      storage: {site: hall, purpose: storage, connects: [gpu, oss, mds], technology: ethernet, switch: sn5600}

Good: ``technology: roce`` on the same switches.

Source: Lustre operations manual, LNet and its network drivers (o2iblnd, socklnd).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC271", "lustre-over-tcp", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        fabric = blueprint.fabrics[store.fabric]
        if fabric.technology == "ethernet" and fabric.purpose not in ("management", "out-of-band"):
            yield Found(f"{store.fabric} is plain Ethernet: Lustre falls back to TCP", ("storage", name, "fabric"), (Related(("fabrics", store.fabric, "technology"), "what it is"),))
