"""The switches above the leaves of a fat-tree: spines, and cores where two tiers are not enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .model import Joins, Links
from .shape import FabricError, Request
from .sizing import PodSize, pod_limit, pod_size, spines_for


@dataclass(frozen=True)
class Tree:
    """Trunks of a tree of ``leaves`` leaves.

    Leaf i has ``uplinks`` uplinks behind its first ``down`` ports, ``size.parallel`` to each spine of its pod. ``apart`` leaves
    of a unit that lie side by side go to as many different sets of spines (1: they share one). A pod holds ``pod_leaves``
    leaves of each set. Without cores ``size.up`` is 0. ``rotating``: each spine stands beside its share of the leaves, and a leaf
    begins with its own, so that uplinks which do not divide by the spines still fill all of them alike.
    """

    leaves: int
    uplinks: int
    down: int
    gbps: int
    pod_leaves: int
    size: PodSize
    apart: int = 1
    dealt_cores: bool = False
    rotating: bool = False
    multipath: bool = True

    @cached_property
    def pods(self) -> int:
        """Sets of leaves that share spines."""
        return -(-self.leaves // (self.apart * self.pod_leaves)) * self.apart

    @property
    def spines(self) -> int:
        """All spines."""
        return self.pods * self.size.spines

    @property
    def counts(self) -> Mapping[Joins, int]:
        return {"leaf-spine": self.leaves * self.uplinks, "spine-core": self.spines * self.size.up}

    @property
    def group_gbps(self) -> int:
        return self.uplinks * self.gbps

    @property
    def pod_gbps(self) -> int:
        return self.apart * self.size.spines * self.size.up * self.gbps

    def links(self) -> Iterator[Links]:
        """Uplinks take the last ports of a leaf, spine by spine; spine and core give each leaf and pod a block of ports."""
        if self.rotating:
            yield self._rotated()
            return
        leaf, up = (x.ravel() for x in np.indices((self.leaves, self.uplinks)))
        k, unit, rail = self.size.parallel, leaf // self.apart, leaf % self.apart
        pod, slot = unit // self.pod_leaves * self.apart + rail, unit % self.pod_leaves
        spine = self.leaves + pod * self.size.spines + up // k
        yield Links("leaf-spine", self.gbps, leaf, self.down + up + 1, spine, slot * k + up % k + 1)
        if self.size.up:
            yield self._cores()

    def _rotated(self) -> Links:
        """Uplink number t of every leaf goes to the spine so many places further than its own, and to that spine's t-th port for a
        leaf in that place. Source: the multi-rack cabling tables of Oracle's Exadata, SuperCluster and M8 guides."""
        spines, u = self.size.spines, self.uplinks
        beside = -(-self.leaves // spines)
        further = np.repeat(np.arange(spines), [u // spines + (k < u % spines) for k in range(spines)])
        leaf, up = (x.ravel() for x in np.indices((self.leaves, u)))
        spine = self.leaves + (leaf // beside + further[up]) % spines
        return Links("leaf-spine", self.gbps, leaf, self.down + up + 1, spine, leaf % beside * u + up + 1)

    def _cores(self) -> Links:
        s, up, m = self.size.spines, self.size.up, self.size.core_parallel
        pod, number, link = (x.ravel() for x in np.indices((self.pods, s, up)))
        first = self.leaves + self.spines
        spine, port = self.leaves + pod * s + number, self.pod_leaves * self.size.parallel + link + 1
        if self.dealt_cores:
            turn = (pod * s + number) * up + link
            return Links("spine-core", self.gbps, spine, port, first + turn % self.size.cores, turn // self.size.cores + 1)
        return Links("spine-core", self.gbps, spine, port, first + number * (up // m) + link // m, pod * m + link % m + 1)


@dataclass(frozen=True)
class Upper:
    """Spines and cores by name, the trunks, the groups of a pod (None: no pods) and how many groups fit on what is there."""

    spines: tuple[str, ...]
    cores: tuple[str, ...]
    trunks: Tree
    pod_groups: int | None
    most: int


def upper(request: Request, groups: int, planned: int, leaves: int, hosts: int, down: int, uplinks: int, gbps: int) -> Upper:
    """Spines and cores over ``groups`` groups of ``leaves`` leaves with ``hosts`` host ports each, sized for ``planned`` groups.

    ``down`` are the ports of a leaf before its first uplink. Raises FabricError."""
    radix = request.above.ports(gbps)
    if not radix:
        raise FabricError("spine", f"{request.above.name} has no ports of {gbps} Gb/s, the speed of the leaves' uplinks")
    apart = leaves if request.rail_groups else 1
    width = leaves // apart  # leaves of a group that share spines
    if request.rotating:
        return _rotating(request, groups, planned * width, leaves, down, uplinks, gbps)
    two = _two(request, planned * width, uplinks, radix)
    if two is None and request.tiers == 2:
        raise FabricError("tiers", f"{planned * width} leaves of {uplinks} uplinks need three tiers of {radix}-port switches; two carry at most {radix // width * width} leaves, {radix // width * leaves * hosts:,} host ports", True)
    if two is not None and request.tiers != 3:
        tree = Tree(groups * leaves, uplinks, down, gbps, planned * width, two, apart)
        names = [f"{request.name}-{f'rail{rail + 1}-' if apart > 1 else ''}spine{s + 1}" for rail in range(apart) for s in range(two.spines)]
        return Upper(tuple(names), (), tree, None, radix // two.parallel // width)
    pod_groups = _pod_groups(request, planned, width, radix)
    pods = -(-planned // pod_groups)
    size = pod_size(pod_groups * width, uplinks, pods * apart, radix, request.spine_oversubscription, request.spines)
    if size is None:
        raise _too_many(request, planned, leaves * hosts, width, radix, apart)
    tree = Tree(groups * leaves, uplinks, down, gbps, pod_groups * width, size, apart)
    if request.fewest_cores:
        tree = replace(tree, size=replace(size, cores=-(-pods * apart * size.spines * size.up // radix)), dealt_cores=True)
    at = [f"pod{pod + 1}-{f'rail{rail + 1}-' if apart > 1 else ''}" for pod in range(tree.pods // apart) for rail in range(apart)]
    spines = tuple(f"{request.name}-{where}spine{s + 1}" for where in at for s in range(size.spines))
    cores = tuple(f"{request.name}-core{c + 1}" for c in range(tree.size.cores))
    return Upper(spines, cores, tree, pod_groups, pods * pod_groups if request.fewest_cores else radix // size.core_parallel // apart * pod_groups)


def _rotating(request: Request, groups: int, planned: int, leaves: int, down: int, uplinks: int, gbps: int) -> Upper:
    """Two tiers of as many spines as are asked for; all leaves must stand, since the spines' ports go by a leaf's place among them."""
    spines, radix = request.spines, request.above.ports(gbps)
    if spines is None or request.rail_groups or request.tiers == 3:
        raise FabricError("split", "a rotating split has two tiers of one set of spines, and 'spines' says how many")
    beside = -(-planned // spines)
    if planned % spines or spines > uplinks or beside * uplinks > radix:
        why = f"{planned} leaves of {uplinks} uplinks put {beside * uplinks} links on each of {spines} spines of {radix} ports"
        raise FabricError("spines", f"a rotating split needs equally many leaves beside each spine, an uplink to each, and ports for them: {why}")
    if groups * leaves != planned:
        raise FabricError("split", f"a rotating split cannot be laid for {planned} leaves of which {groups * leaves} stand")
    tree = Tree(planned, uplinks, down, gbps, planned, PodSize(spines, 1, 0, 1, 0), rotating=True)
    return Upper(tuple(f"{request.name}-spine{s + 1}" for s in range(spines)), (), tree, None, groups)


def _two(request: Request, leaves: int, uplinks: int, radix: int) -> PodSize | None:
    spines = spines_for(leaves, uplinks, radix)
    if request.spines is None or spines is None or request.tiers == 3:
        return PodSize(spines, uplinks // spines, 0, 1, 0) if spines else None
    if uplinks % request.spines or request.spines < spines:
        fits = ", ".join(str(s) for s in range(spines, uplinks + 1) if uplinks % s == 0)
        raise FabricError("spines", f"{request.spines} spines do not give every leaf of {uplinks} uplinks equally many links to each; {fits} do")
    return PodSize(request.spines, uplinks // request.spines, 0, 1, 0)


def _pod_groups(request: Request, planned: int, width: int, radix: int) -> int:
    """Groups of a pod: what is asked for, else equal pods, as few as there can be."""
    most = pod_limit(radix, request.spine_oversubscription) // width
    if not most:
        raise FabricError("unit", f"a unit of {width} leaves is more than one pod of {radix}-port switches holds", True)
    if request.pod is not None:
        if request.pod > most:
            raise FabricError("pod", f"a pod of {radix}-port switches holds at most {most} units of {width} leaves")
        return request.pod
    return -(-planned // -(-planned // most))


def _too_many(request: Request, planned: int, hosts: int, width: int, radix: int, apart: int) -> FabricError:
    most = pod_limit(radix, request.spine_oversubscription) // width * (radix // apart)
    if request.pod is not None and -(-planned // request.pod) > radix // apart:
        return FabricError("pod", f"{-(-planned // request.pod):,} pods are planned, and cores of {radix} ports join at most {radix // apart}")
    if request.spines is not None:
        return FabricError("spines", f"{request.spines} spines a pod do not carry its leaves with equal links")
    return FabricError("switch", f"three tiers of {radix}-port switches carry at most {most * hosts:,} host ports here, and {planned * hosts:,} are planned", True)
