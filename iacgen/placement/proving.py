"""An order handed to the exact solver: a better one where there is one, and a bound that it is proved against."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from iacgen.design.fabric.hierarchy import Hierarchy
from iacgen.design.model import Design
from iacgen.training.plan import Job

from .assumptions import EXPOSED
from .choice import Choice
from .cost import cost
from .exact import Proof, prove
from .model import Bound, Placement
from .placing import ground_of, placement_on


def proved(design: Design, pool_name: str, job: Job, now: Placement, limit_s: float, found: Hierarchy | None = None) -> tuple[Placement, Proof | None]:
    """(the order ``now``, or a cheaper one that the solver found, with the solver's bound where that is the higher; what the solver says). One that is
    proved already comes back as it is, and the solver is not asked.

    ``limit_s`` is in seconds of the solver's work (see ``exact.prove``). Raises ImportError where OR-tools is missing, ValueError where the rates
    of this fabric are none that the solver takes.
    """
    if now.proved:
        return now, None
    pool = design.pools[pool_name]
    ground = ground_of(design, pool, job, found)
    at = np.array([i for i, host in enumerate(ground.hosts) if host not in pool.down], dtype=np.int64)
    index = {ground.hosts[i]: n for n, i in enumerate(at.tolist())}
    tiers = ground.tiers.only(at)
    hint = np.array([index[host] for host in now.hosts], dtype=np.int64)
    proof = prove(tiers, job.grid, job.traffic, EXPOSED, hint=hint, limit_s=limit_s)
    bound = replace(now.bound, why=now.bound.why.removesuffix(ground.uncounted))
    if proof.bound_s > bound.seconds:
        bound = Bound(proof.bound_s, None, None, "no placement costs less" if proof.optimal else "as far as the solver came within its limit", "solver")
    if (proof.order == hint).all():
        return replace(now, bound=replace(bound, why=bound.why + ground.uncounted)), proof
    made = Choice(at[proof.order], cost(tiers, job.grid, job.traffic, proof.order, EXPOSED), now.sorted_cost, bound, now.tried)
    return placement_on(ground, pool, job, made), proof
