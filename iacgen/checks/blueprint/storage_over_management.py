"""A file system on the management network.

Why: the ports there run at 1 Gb/s and carry Slurm and the operator's login. The first checkpoint fills them: nodes are declared down
because their answers come too late.

Bad::

    storage:
      scratch: {kind: lustre, servers: oss, metadata: mds, fabric: mgmt}

Good: a fabric of purpose storage.

Source: whamcloud/integrated-manager-for-lustre#719, Lustre on the management interface by mistake.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics import Related
from ..duties import lustres
from ..rule import Found, rule


@rule("IAC272", "storage-over-management", "warning", lab="info")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, store in lustres(blueprint).items():
        if blueprint.fabrics[store.fabric].purpose in ("management", "out-of-band"):
            yield Found(f"{store.fabric} is the management network", ("storage", name, "fabric"), (Related(("fabrics", store.fabric, "purpose"), "what it is for"),))
