"""Where every rank runs, what its exchanges cost there, and what the order of sorted host names would have cost."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

Family = Literal["dp", "cp", "pp", "ep", "fs"]
"""Kinds of traffic: data, context, pipeline and expert parallel, and inside the shard groups of FSDP's hybrid sharding."""
FAMILIES: Mapping[Family, str] = MappingProxyType({"dp": "data parallel", "cp": "context", "pp": "pipeline", "ep": "experts", "fs": "shards of the states"})
"""What people call them."""
Why = Literal["down", "spare", "left over", "not needed", "place unknown", "apart"]


@dataclass(frozen=True)
class FamilyCost:
    """One kind of traffic in one step.

    ``seconds`` is ``exposed`` x the larger of ``slowest_s`` (its slowest ring edge, chain edge or all-to-all member) and
    ``congestion_s`` (its bytes over the uplinks of the busiest switch group). ``slowest_tier`` is the highest tier that the
    slowest flow crosses, ``busiest`` the name of that switch group; both are None when nothing leaves a leaf group.
    ``bytes_by_tier`` are the bytes that leave the switch groups of each tier. ``ring_entries`` is how often one ring enters
    the same leaf group at most: 1 is best, 0 when each ring stays in its group or the family has no ring. ``inside`` says that all
    of it stays in NVLink domains of several hosts.
    """

    family: Family
    exposed: float
    seconds: float
    slowest_s: float
    slowest_tier: str | None
    congestion_s: float
    busiest: str | None
    bytes_by_tier: tuple[float, ...]
    ring_entries: int
    inside: bool = False


@dataclass(frozen=True)
class Cost:
    """Communication cost of one step, by which orders are compared, by family; families that do not leave the node are absent.

    Families add up because they run in different phases of a step. It is no part of the step time: what computation hides is one fixed
    share a family here, ``exposed``, where ``training.step`` looks at the computation beside each exchange. ``tiers`` names the switch
    tiers from the node upwards.
    """

    tiers: tuple[str, ...]
    families: tuple[FamilyCost, ...]

    @property
    def total_s(self) -> float:
        return sum(f.seconds for f in self.families)

    @property
    def bytes_by_tier(self) -> tuple[float, ...]:
        """Bytes that leave the switch groups of each tier, all families together."""
        return tuple(sum(f.bytes_by_tier[k] for f in self.families) for k in range(len(self.tiers)))

    @property
    def cross_leaf_bytes(self) -> float:
        """Bytes that leave a leaf group."""
        return self.bytes_by_tier[0]

    @property
    def ring_entries(self) -> int:
        """How often one ring enters the same leaf group at most."""
        return max((f.ring_entries for f in self.families), default=0)


@dataclass(frozen=True)
class Bound:
    """A time that no placement can beat. ``tier`` and ``switch`` name the switch tier and one of the groups that set it, None where
    none does; ``why`` says it in words. ``method``: "counting", "enumerated" (all orders were tried) or "solver".
    """

    seconds: float
    tier: str | None
    switch: str | None
    why: str
    method: Literal["counting", "enumerated", "solver"] = "counting"

    def proves(self, seconds: float) -> bool:
        """Whether a placement that takes so long is as fast as any, to a millionth."""
        return seconds <= self.seconds * (1 + 1e-6)


@dataclass(frozen=True)
class IdleHost:
    """A host of the pool that gets no rank, and why: it is down; it stands by for one that fails ("spare"); it is what is left of a leaf
    group that the job uses ("left over"), or on one that it does not use ("not needed"); no source tells where it hangs ("place
    unknown"); or nothing joins it to the hosts of the job ("apart")."""

    host: str
    why: Why


@dataclass(frozen=True)
class Span:
    """How the groups of one family lie: how many there are, and for each tier how many lie in several of its switch groups, and in how many
    the one does that lies in most."""

    family: Family
    groups: int
    cut: tuple[int, ...]
    most: tuple[int, ...]


@dataclass(frozen=True)
class Move:
    """A host that failed, and the one that took its ranks."""

    node: int
    out: str
    into: str


@dataclass(frozen=True)
class Placement:
    """The host of each virtual node of a job: rank r is local rank r % gpus_per_node on hosts[r // gpus_per_node].

    ``sorted_cost`` is the cost of the first hosts that are up, in natural order of their names. ``bound`` is a time that no placement on
    the hosts that are up can beat. ``moves`` are the hosts that took the place of others that are down, where the order is else that of a
    pool without failures; ``unmoved_cost`` is what that one cost, None where the order was made for the hosts that are up.
    ``by_name``: whether these are the first hosts that are up, in natural order of their names. ``mixed_stages``: stages on hosts with different GPUs. ``groups`` and ``seat``: names of the switch groups of each tier, and for each
    virtual node, tier by tier, the number of its group.
    """

    job: str
    hosts: tuple[str, ...]
    idle: tuple[IdleHost, ...]
    gpus_per_node: int
    cost: Cost
    sorted_cost: Cost
    bound: Bound
    spans: tuple[Span, ...] = ()
    moves: tuple[Move, ...] = ()
    unmoved_cost: Cost | None = None
    mixed_stages: int = 0
    groups: tuple[tuple[str, ...], ...] = ()
    seat: tuple[tuple[int, ...], ...] = ()
    tried: int = 0
    by_name: bool = False

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the host names, one a line in rank order: a reader of two trees sees at a glance if the order changed."""
        return digest(self.hosts)

    @property
    def world(self) -> int:
        """Ranks of the job."""
        return len(self.hosts) * self.gpus_per_node

    def host_of(self, rank: int) -> str:
        """Host of a rank. Raises IndexError for a rank that the job has not."""
        if not 0 <= rank < self.world:
            raise IndexError(f"rank {rank} of {self.world}")
        return self.hosts[rank // self.gpus_per_node]

    def local_rank(self, rank: int) -> int:
        """Number of a rank on its host, counted from 0."""
        return rank % self.gpus_per_node

    @property
    def cost_s(self) -> float:
        return self.cost.total_s

    @property
    def sorted_cost_s(self) -> float:
        return self.sorted_cost.total_s

    @property
    def bound_s(self) -> float:
        return self.bound.seconds

    @property
    def ratio(self) -> float:
        """Cost over bound; 1.0 where nothing leaves a host."""
        return self.cost_s / self.bound_s if self.bound_s else 1.0

    @property
    def proved(self) -> bool:
        """Whether no placement can cost less, to a millionth."""
        return self.bound.proves(self.cost_s)


def digest(hosts: Iterable[str]) -> str:
    """SHA-256, in hexadecimal, of the names joined by newlines."""
    return hashlib.sha256("\n".join(hosts).encode()).hexdigest()
