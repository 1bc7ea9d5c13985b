"""Read the topology that really exists: what clouds, subnet managers, monitoring and schedulers say → ``design.fabric.hierarchy.Hierarchy``.

``read`` takes the bytes of one file and gives what was found. Each source fills a graph of hosts and switches (``wiring``), and one module
collapses it (``collapse``): rails fall together, spines that share their leaves are one group, fabrics that nothing joins stay apart.
"""

from .found import Found
from .names import names, renamed
from .read import KINDS, Kind, read

__all__ = ["KINDS", "Found", "Kind", "names", "read", "renamed"]
