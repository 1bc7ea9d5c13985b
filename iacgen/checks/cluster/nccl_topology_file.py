"""A file of the topology or of the graphs for NCCL that no file of the tree brings.

Why: NCCL reads the machine's own topology; a file in its place is for machines whose hypervisor hides it, and is right for one size of
one machine only. Where the file is missing NCCL says so in a log that nobody reads, and where it is of another size GPUs and adapters
are paired across sockets. The graphs in NCCL_GRAPH_FILE are those of one number of ranks, too.

Bad::

    nccl:
      set: {NCCL_TOPO_FILE: /opt/microsoft/ndv5/topo.xml}
      reason: Seen in a public script

Good: leave it out: the images of the clouds that need the file set the variable themselves.

Source: azhpc-images#327 and #332, azurehpc-health-checks PR#143: the file of a large size on a small one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

_FITS = {"NCCL_TOPO_FILE": "size of machine", "NCCL_GRAPH_FILE": "number of ranks"}


@rule("IAC557", "nccl-topology-file", "warning")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, what in _FITS.items():
        if wanted and name in wanted.set:
            yield Found(f"no file of the tree brings {wanted.set[name]}, and it fits one {what}", ("nccl", "set", name))
