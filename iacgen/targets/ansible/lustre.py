"""Lustre targets: which device of which server pair holds which index."""

from __future__ import annotations

import re

from ...design.model import Design, Lustre
from .inventory import lustres_of

# Largest OST, Lustre tuning wiki (fabric facts, section 6).
_OST_LIMIT_BYTES = 1024 * 2**40


def targets_of(design: Design, site: str) -> dict[str, object]:
    """The words of ``lustre_servers.yml``: all targets of a site, those with metadata first; empty without Lustre."""
    targets: list[dict[str, object]] = []
    managers: set[str] = set()
    for lustre in lustres_of(design, site):
        # One management target a host: file systems on the same metadata servers share it.
        manages = lustre.metadata[0] not in managers
        managers.add(lustre.metadata[0])
        targets += [_target(design, lustre, "mdt", i, lustre.metadata, manages and i == 0) for i in range(len(lustre.metadata))]
        count = objects_per_server(lustre)
        targets += [_target(design, lustre, "ost", i, lustre.servers, False, count) for i in range(count * len(lustre.servers))]
    return {"targets": targets} if targets else {}


def objects_per_server(lustre: Lustre) -> int:
    """OSTs of one server: two, one for each socket, doubled until none is larger than Lustre allows.

    The number decides which index lies where, so it must not follow every change of the capacity.
    """
    count = 2
    while lustre.capacity_bytes > count * len(lustre.servers) * _OST_LIMIT_BYTES:
        count *= 2
    return count


def mount_unit(path: str) -> str:
    r"""Name of the mount unit of an absolute path, as ``systemd-escape --path --suffix=mount`` makes it (systemd.unit(5))."""
    escaped = re.sub(r"[^A-Za-z0-9:_./]", lambda m: "".join(f"\\x{byte:02x}" for byte in m[0].encode()), path.strip("/"))
    if escaped.startswith("."):
        escaped = "\\x2e" + escaped[1:]
    return escaped.replace("/", "-") + ".mount"


def nids(design: Design, lustre: Lustre, host: str) -> str:
    """NIDs of one server, a comma between its rails (mkfs.lustre(8))."""
    fabric, pool = design.fabrics[lustre.fabric], design.pool_of(host)
    return ",".join(f"{fabric.address(pool.name, pool.index(host), rail)}@{lustre.net}" for rail in range(fabric.nics[pool.name].count))


def _target(design: Design, lustre: Lustre, kind: str, index: int, servers: tuple[str, ...], manages: bool, per_server: int = 1) -> dict[str, object]:
    """One target. Servers 1 and 2, 3 and 4 and so on are pairs that see each other's devices."""
    position = index // per_server
    pair = [servers[position], *([servers[position ^ 1]] if position ^ 1 < len(servers) else [])]
    label = f"{lustre.fsname}-{kind.upper()}{index:04x}"
    return {
        "label": label,
        "unit": mount_unit(f"/lustre/{label}"),
        "device": f"/dev/mapper/{label}",
        "hosts": pair,
        "arguments": [
            *(["--mgs"] if manages else []),
            f"--{kind}",
            f"--fsname={lustre.fsname}",
            f"--index={index}",
            *([] if manages else [f"--mgsnode={':'.join(lustre.mgs_nids)}"]),
            *(f"--servicenode={nids(design, lustre, host)}" for host in pair),
        ],
    }
