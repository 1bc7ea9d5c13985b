"""What Linux calls a port that speaks Ethernet where the catalog has its name as an InfiniBand port."""

from __future__ import annotations

import re

# systemd, predictable network interface names (systemd.net-naming-scheme(7)): ``ib`` becomes ``en``, the rest says where the card is;
# drivers that tell a port's name, as mlx5 does, add ``np`` and its number, from 0.
_INFINIBAND = re.compile(r"ib((?:P\d+)?p\d+s\d+)(?:f(\d+))?$")


def as_ethernet(name: str) -> str:
    """``ibp24s0`` → ``enp24s0np0``, ``ibp41s0f1`` → ``enp41s0f1np1``; a name that tells no place stays as it is."""
    found = _INFINIBAND.match(name)
    if not found:
        return name
    place, function = found.groups()
    return f"en{place}np0" if function is None else f"en{place}f{function}np{function}"
