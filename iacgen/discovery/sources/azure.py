"""Virtual machines of Azure → the placement groups that they lie in. Azure's API names no switch.

Read are ``az vm list``, ``az vmss list-instances --expand instanceView`` and the instance metadata of each machine
(``/metadata/instance``), one behind the other. A placement group is one InfiniBand fabric and no more is told; which leaf a
machine is on only its adapters know. ``azslurm topology`` asks them through SHARP or reads NVLink's ClusterUUID, and prints a
topology.conf, which is read as such; so is the file of ``sharp_cmd topology``, with the names of hosts given by their GUIDs.

Source: Azure Compute REST API, VirtualMachine and VirtualMachineScaleSetVMInstanceView (placementGroupId); Azure Instance Metadata
Service, compute; Azure/cyclecloud-slurm, azslurm topology.
"""

from __future__ import annotations

import re
from typing import Any

from ..fields import Fields
from ..found import finding
from ..wiring import Wiring
from .gcp import items
from .paths import Place, wired

_MACHINE = re.compile(r"/subscriptions/.*/(?:virtualmachines|virtualmachinescalesets)/", re.IGNORECASE)


def is_so(values: list[Any]) -> bool:
    """Whether these are machines of Azure."""
    some = items(values)
    return bool(some) and all(isinstance(i, dict) and (_MACHINE.match(str(i.get("id", ""))) or (isinstance(i.get("compute"), dict) and "vmId" in i["compute"])) for i in some)


def read(values: list[Any], fields: Fields, wiring: Wiring) -> None:
    """Machines by the name of their system, else by that of the machine."""
    places = []
    for where, item in fields.each(items(values), "machines"):
        machine = fields.map(item, "compute", where) if "compute" in item else item
        host = fields.text(fields.map(machine, "osProfile", where), "computerName", f"{where}.osProfile") or fields.text(machine, "name", where)
        if host is None:
            fields.wrong(where, "osProfile.computerName or name is wanted")
            continue
        group = _group(fields, machine, where)
        zones = fields.texts(machine, "zones", where) or [fields.text(machine, "zone", where) or ""]
        realm = "-".join(filter(None, [fields.text(machine, "location", where), *zones]))
        places.append(Place(host, (group,) if group else (), realm))
    wired(wiring, places, ["placement-group"])
    words = "Azure tells the placement group of a machine and none of its switches: all of a group count as equally near"
    fields.findings.append(finding("switches-not-told", words, wiring.file, help="give a topology.conf of 'azslurm topology', or the output of ibnetdiscover"))


def _group(fields: Fields, machine: dict[str, Any], where: str) -> str | None:
    """The nearest thing that Azure says to lie together: placement group of a scale set, proximity placement group, scale set."""
    own = fields.text(fields.map(machine, "instanceView", where), "placementGroupId", f"{where}.instanceView") or fields.text(machine, "placementGroupId", where)
    named = (fields.text(fields.map(machine, key, where), "id", f"{where}.{key}") for key in ("proximityPlacementGroup", "virtualMachineScaleSet"))
    found = own or next(filter(None, named), None) or fields.text(machine, "vmScaleSetName", where)
    return found.rpartition("/")[2] or None if found else None
