"""Ports whose device names the catalog does not know, where a role of the playbook needs them.

Why: addresses, the lossless class of RoCE and Lustre's network are set on a device by its name, which depends on the vendor, the slots and
the driver. The role of the InfiniBand or RoCE ports stops at these hosts, and with it everything that comes after.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-b200, count: 8}
    fabrics:
      compute: {site: hall, purpose: compute, connects: [gpu], technology: roce, switch: sn5600}

Good: read the names on a host with ``ibdev2netdev`` and set ``roce_host_ports`` or ``ib_host_ports``, and ``lnet_networks`` for Lustre, in
an inventory of your own that is given beside the generated one.

Source: NVIDIA/nccl#1505 and DGX user guides: the same system numbers its mlx5 devices differently with other cards.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC294", "unnamed-ports", "warning")
def check(blueprint: Blueprint) -> Iterator[Found]:
    carries_lustre = {store.fabric for store in lustres(blueprint).values()}
    for name, fabric in blueprint.fabrics.items():
        if fabric.technology == "ethernet":
            continue
        for i, pool in enumerate(fabric.connects):
            system = catalog.system(blueprint.nodes[pool].system)
            nic = system.nics.get(fabric.purpose)
            addressed = fabric.technology == "roce" or name in carries_lustre
            if nic and not (nic.rdma_names and (nic.interfaces or not addressed)):
                message = f"the catalog knows no {'network' if nic.rdma_names else 'RDMA'} device of the {fabric.purpose} ports of {system.name}"
                variable = "roce_host_ports" if fabric.technology == "roce" else "ib_host_ports"
                yield Found(message, ("fabrics", name, "connects", i), help=f"read them with ibdev2netdev and set {variable} in an inventory of your own")
