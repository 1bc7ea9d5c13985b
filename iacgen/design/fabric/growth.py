"""What becomes of the cables that are laid when a fabric changes."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Fabric

Port = tuple[str, str]


@dataclass(frozen=True)
class Moves:
    """Cables by their fate: the same two ports, another port at one end or both, taken away with a device or a port, newly laid."""

    stay: int
    move: int
    go: int
    new: int

    @property
    def disturbs(self) -> bool:
        """Whether a cable that is laid must be touched."""
        return bool(self.move or self.go)


def moves(before: Fabric | None, after: Fabric | None) -> Moves:
    """The fates of all cables from one wiring to another; None is no fabric at all.

    A cable moves when the port at its lower end is still used, by another cable; it goes when that port is used no more.
    """
    laid, wanted = _wires(before), _wires(after)
    stay = sum(wanted.get(port) == end for port, end in laid.items())
    move = sum(port in wanted for port in laid) - stay
    return Moves(stay, move, len(laid) - stay - move, len(wanted) - stay - move)


def _wires(fabric: Fabric | None) -> dict[Port, Port]:
    return {(c.a, c.a_port): (c.b, c.b_port) for c in fabric.wiring()} if fabric else {}
