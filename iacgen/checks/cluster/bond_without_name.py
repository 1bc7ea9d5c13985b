"""GPU hosts whose ranks meet over a bond that nobody has named.

Why: the ports of an in-band network are one bond, and the site gives it its name. Without it NCCL may take any interface but those that
surely are wrong, and PyTorch's CPU collectives the one that the host name resolves to: where that is a slow or a closed network the job
starts late or not at all.

Bad::

    fabrics:
      mgmt: {purpose: in-band, technology: ethernet}

Good: ``mgmt: {purpose: in-band, technology: ethernet, interface: bond0}``.

Source: NCCL user guide, NCCL_SOCKET_IFNAME; PyTorch, torch.distributed, common environment variables: GLOO_SOCKET_IFNAME.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject


@rule("IAC661", "bond-without-name", "info")
def check(subject: Subject) -> Iterator[Found]:
    carriers = {(carrier.name, pool): carrier for pool in subject.design.pools if subject.design.pools[pool].gpu and (carrier := subject.design.carrier_of(pool))}
    said = set()
    for (name, pool), carrier in carriers.items():
        if carrier.bonded and not carrier.interface and carrier.nics[pool].count > 1 and name not in said:
            said.add(name)
            yield Found(f"ranks on {pool} meet over {name}, whose ports are one bond without a name", ("fabrics", name), help="give it interface, such as interface: bond0", on_key=True)
