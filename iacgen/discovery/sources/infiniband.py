"""What InfiniBand says of itself, whichever tool prints it: rates of links, and the hosts in node descriptions."""

from __future__ import annotations

import math
import re

from ..wiring import Vertex, Wiring

# Gb/s of data on one lane, after line coding: SDR to QDR send 8 bits as 10, FDR and EDR 64 as 66; from HDR on the name is the rate.
# Source: InfiniBand Architecture Specification, volume 1, PortInfo LinkSpeedActive and LinkSpeedExtActive.
LANE_GBPS = {"SDR": 2, "DDR": 4, "QDR": 8, "FDR10": 10, "FDR": 14.0625 * 64 / 66, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
_WIDTH = re.compile(r"(?:IB_)?(\d{1,2})x", re.IGNORECASE)
_HOST = re.compile(r"(\S+)(?:\s+(\S+))?\s*")
_ANONYMOUS = {"localhost", "localhost.localdomain", "(none)", "n/a"}


def rate_Bps(width: str, speed: str) -> float:
    """Bytes per second of a link, one direction, from words such as 4x and NDR; infinite where they say nothing known."""
    lanes, gbps = _WIDTH.fullmatch(width), LANE_GBPS.get(speed.upper())
    return int(lanes[1]) * gbps * 1e9 / 8 if lanes and gbps else math.inf


class Adapters:
    """The adapters of one wiring, by GUID, as hosts."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.guids: dict[tuple[str, str], str] = {}
        self.by_guid = {bare(said): host for said, host in wiring.names.items()}

    def host(self, guid: str, description: str) -> Vertex | None:
        """The host that an adapter is in: as given for its GUID, else from its description, ``host device``.

        None for the SHARP engine of a switch, which shows as an adapter, and, noted, for one that names no host: factory settings say
        ``MT4129 ConnectX7 Mellanox Technologies``. Two adapters with one description are of two hosts with one name.
        """
        if "aggregation node" in description.lower():
            return None
        if given := self.by_guid.get(bare(guid)):
            return self.wiring.host(given)
        match = _HOST.fullmatch(description)
        if match is None or match[1].lower() in _ANONYMOUS:
            self.wiring.nameless.setdefault(f"{guid} ({description})" if description else guid)
            return None
        host = self.wiring.host(match[1])
        if host and match[2] and self.guids.setdefault((match[1], match[2]), bare(guid)) != bare(guid):
            self.wiring.twice.setdefault(host.id)
        return host


def bare(guid: str) -> str:
    """A GUID as every tool's spelling of it: lower case, without ``0x`` and leading zeros."""
    return guid.strip().lower().removeprefix("0x").lstrip("0")
