"""The best of all placements of a job by an exact solver, with a bound that holds whether or not it got to the end.

OR-tools' CP-SAT, because it is the free solver that proves such programs: booleans and few large coefficients, found infeasible by learning
from conflicts; relaxations alone, as solvers of mixed-integer programs use them, say next to nothing about cuts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from iacgen.training.traffic import NodeGrid, Traffic

from .bins import Bins, bins
from .cost import Order, cost
from .model import Family
from .program import Program
from .tiers import Tiers

MISSING = "the exact solver is OR-tools, which is not installed: pip install 'iacgen[prove]'"
UNITS = 1_000_000_000
"""Units of the solver's time in the cost of the hint. A unit is lost for each crossing at most, so the bound is right to 1e-6 up to 1,000 of them."""
SAME = 1e-6
"""Relative difference of cost and bound up to which a placement counts as proved the best."""
MOST = 150_000
"""Booleans of the program at most, about: beyond, it fills the memory and no limit of time is worth waiting for."""
SEED = 20


@dataclass(frozen=True)
class Proof:
    """The best placement found and what is proved of it.

    ``order`` and ``cost_s`` as in ``cost``; never dearer than the hint. No placement costs less than ``bound_s``, of those that mix no more
    stages of two GPU types than the hint. ``optimal`` when the two are equal within ``SAME``.
    """

    order: Order
    cost_s: float
    bound_s: float
    optimal: bool


def prove(tiers: Tiers, grid: NodeGrid, traffic: Traffic, exposed: Mapping[Family, float], hint: Order, limit_s: float = 60.0, workers: int = 2) -> Proof:
    """Look for a better placement than ``hint`` until there is provably none, or the limit is reached.

    ``limit_s`` is in the solver's own time, which counts its work and is about a second of one processor: the same input ends at
    the same point, and so with the same answer, on a slow machine and on a fast one. The hint stands when nothing is found that is
    cheaper by more than ``SAME``.

    Raises ImportError when OR-tools is missing, ValueError when the hint is no placement (see ``cost``), rates rise with the tier or the job is
    too large (some hundred nodes on some tens of leaf groups are not).
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError as error:
        raise ImportError(MISSING) from error
    if (np.diff([tiers.nvlink_Bps, *tiers.flow_Bps]) > 0).any():
        raise ValueError("flows must not be faster the farther they go")
    paid = cost(tiers, grid, traffic, hint, exposed).total_s
    if not paid:
        return Proof(hint, 0.0, 0.0, True)
    held, model = bins(tiers), cp_model.CpModel()
    if (number := _size(tiers, held, grid)) > MOST:
        raise ValueError(f"{grid.nodes} nodes on {len(held.hosts)} groups of hosts need {number} yes-or-no decisions: the exact solver is for up to {MOST}")
    program = Program(model, tiers, held, grid, traffic, exposed, paid / UNITS, UNITS + UNITS // 1000)
    assigned = held.assigned(hint)
    stages = held.kind[assigned].reshape(grid.pipeline, grid.row)
    program.cuts.mixed(int((stages != stages[:, :1]).any(axis=1).sum()))
    program.cuts.hint(assigned)
    solver = cp_model.CpSolver()
    _settings(solver.parameters, limit_s, workers)
    status = solver.solve(model)
    assert status not in (cp_model.MODEL_INVALID, cp_model.INFEASIBLE), model.validate()
    order, least = hint, paid
    if status != cp_model.UNKNOWN:
        lies = np.array([[solver.boolean_value(literal) for literal in row] for row in program.cuts.lies])
        other = held.order(lies.argmax(axis=0))
        if (seconds := cost(tiers, grid, traffic, other, exposed).total_s) < paid * (1 - SAME):
            order, least = other, seconds
    bound = max(0.0, solver.best_objective_bound - 1) * paid / UNITS
    return Proof(order, least, bound, least <= bound * (1 + SAME))


def _size(tiers: Tiers, held: Bins, grid: NodeGrid) -> int:
    """Booleans of the program, about: for each node and group of each tier, where the node lies, and two for each edge to a neighbour."""
    groups = len(held.hosts) + sum(len(np.unique(labels)) for labels in held.labels)
    joined = [held.labels[-1]] * (tiers.pair_Bps is not None) + [held.labels[0]] * (tiers.ways is not None)
    pairs = sum(len(np.unique(labels)) ** 2 for labels in joined)
    return grid.nodes * (5 * groups + 3 * pairs)


def _settings(parameters: Any, limit_s: float, workers: int) -> None:
    """One answer on any machine: work is shared out in turns, whoever is faster, and the limit counts work and not seconds."""
    parameters.num_workers = workers
    parameters.interleave_search = workers > 1
    parameters.random_seed = SEED
    parameters.max_deterministic_time = limit_s
    parameters.ignore_subsolvers.append("core")  # it raises the bound step by step, and with large coefficients these are small and many
