"""Process groups of a job: which ranks talk to each other, family by family, in Megatron's order.

A rank is a mixed-radix number over the order string, its first name the fastest digit. The group of a family is the set of
ranks that differ in that family's digit alone. megatron-core builds the same groups twice, and so does this module: a dense
grid, where experts do not count, and an expert grid, where context does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iacgen.training.spec import JobSpec

ORDER = "tp-cp-ep-dp-pp"
FAMILIES = ("tp", "cp", "ep", "dp", "pp")


@dataclass(frozen=True)
class RankGrid:
    """Sizes of the families in the order of their digits, the fastest first. Hashable and small at any world size."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def world(self) -> int:
        return prod(self.sizes)

    def size(self, name: str) -> int:
        """Ranks of one family; 1 for a family that the order does not name."""
        return self.sizes[self.names.index(name)] if name in self.names else 1

    def groups(self, *families: str) -> NDArray[np.int64]:
        """All groups over ``families`` together, shape (groups, ranks of a group).

        Ranks rise within a group and groups rise by their first rank. Raises ValueError for a family that the order lacks.
        """
        # C order makes the last axis the fastest, so axis i holds digit len - 1 - i.
        cube = np.arange(self.world, dtype=np.int64).reshape(self.sizes[::-1])
        axes = sorted(len(self.names) - 1 - self.names.index(name) for name in families)
        rest = [axis for axis in range(len(self.sizes)) if axis not in axes]
        return cube.transpose(rest + axes).reshape(-1, prod(self.size(name) for name in families))

    def group_of(self, rank: int, *families: str) -> tuple[int, ...]:
        """Ranks of the one group over ``families`` that holds ``rank``, rising."""
        members = [0]
        rest, weight = rank, 1
        for name, size in zip(self.names, self.sizes, strict=True):
            rest, digit = divmod(rest, size)
            digits = range(size) if name in families else (digit,)
            members = [member + weight * d for d in digits for member in members]
            weight *= size
        return tuple(sorted(members))

    def digits(self, rank: int) -> dict[str, int]:
        """Position of a rank in each family."""
        out = {}
        for name, size in zip(self.names, self.sizes, strict=True):
            rank, out[name] = divmod(rank, size)
        return out


def grid(order: str = ORDER, **sizes: int) -> RankGrid:
    """A grid from an order string such as ``tp-cp-ep-dp-pp``; a family without a size has one rank.

    Raises ValueError for a name that is not a family or stands twice, and for a size above 1 that the order does not name.
    """
    names = tuple(order.split("-"))
    if len(set(names)) != len(names) or not set(names) <= set(FAMILIES):
        raise ValueError(f"order {order!r} must name each of {', '.join(FAMILIES)} at most once")
    stray = [name for name, size in sizes.items() if name not in names and size != 1]
    if stray:
        raise ValueError(f"order {order!r} has no place for {', '.join(stray)}")
    return RankGrid(names, tuple(sizes.get(name, 1) for name in names))


def dense(spec: JobSpec, order: str = ORDER) -> RankGrid:
    """The grid of the layers without experts: tensor, context, data and pipeline families."""
    return grid(order, tp=spec.tensor, cp=spec.context, dp=spec.data_parallel, pp=spec.pipeline)


def experts(spec: JobSpec, order: str = ORDER, expert_tensor: int | None = None) -> RankGrid:
    """The grid of the expert layers, whose tensor size is ``expert_tensor`` where that is given, else the job's own."""
    tensor = spec.expert_tensor if expert_tensor is None else expert_tensor
    data = spec.world // (tensor * spec.expert * spec.pipeline)
    return grid(order, tp=tensor, ep=spec.expert, dp=data, pp=spec.pipeline)


def expert_stride(spec: JobSpec) -> int:
    """Ranks from one member of an expert group to the next. DeepSpeed cuts expert groups out of the copies of the model, which are a
    tensor group apart (utils/groups.py); elsewhere the tensor group of the experts lies between (megatron-core, parallel_state)."""
    return spec.tensor if spec.framework == "deepspeed" else spec.expert_tensor
