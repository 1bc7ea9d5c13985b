"""``aws ec2 describe-instance-topology`` → the network nodes above each instance.

Source: Amazon EC2 API reference, DescribeInstanceTopology and InstanceTopology: networkNodes from the top layer to the one that the
instance is attached to, null where the type is not supported or the instance does not run; capacityBlockId names the UltraServer's
domain. Network nodes tell no speed, and the layers lie below one Availability Zone.
"""

from __future__ import annotations

from typing import Any

from ..fields import Fields
from ..wiring import Wiring
from .paths import Place, wired


def is_so(values: list[Any]) -> bool:
    """Whether these are pages of that answer."""
    pages = all(isinstance(v, dict) and isinstance(v.get("Instances"), list) for v in values)
    return pages and any("NetworkNodes" in item for value in values for item in value["Instances"] if isinstance(item, dict))


def read(values: list[Any], fields: Fields, wiring: Wiring) -> None:
    """Instances by id."""
    places = []
    for page, value in enumerate(values):
        for where, item in fields.each(fields.list(value, "Instances", f"page {page + 1}"), "Instances"):
            host = fields.text(item, "InstanceId", where)
            if host is None:
                fields.wrong(where, "InstanceId is wanted")
                continue
            zone = fields.text(item, "ZoneId", where) or fields.text(item, "AvailabilityZone", where) or ""
            domain = fields.text(item, "UltraServerId", where) or fields.text(item, "CapacityBlockId", where)
            wiring.of_type(host, fields.text(item, "InstanceType", where))
            places.append(Place(host, tuple(fields.texts(item, "NetworkNodes", where)), zone, domain))
    fields.unfinished(values, "NextToken", wiring.unheard(place.host for place in places))
    depth = max((len(place.path) for place in places), default=0)
    wired(wiring, places, [f"layer{n + 1}" for n in range(depth)])
