"""Names that are copied from recipe to recipe and do harm or nothing.

Sources: NCCL user guide 2.30, whose debugging variables are not to stay in production; names that stand in libnccl 2.32.3;
doc/efa-env-var.md of aws-ofi-nccl. A pattern stands for a whole name.
"""

from __future__ import annotations

import re

_HARMFUL = (
    ("NCCL_IB_DISABLE", "it takes the adapters away, and traffic goes over TCP"),
    ("NCCL_P2P_DISABLE", "the GPUs of a node no longer reach each other over NVLink"),
    ("NCCL_P2P_LEVEL", "NCCL finds by itself which GPUs reach each other; a level can only take ways away"),
    ("NCCL_SHM_DISABLE", "the ranks of a node no longer share memory and talk through the adapters"),
    ("NCCL_NET", "NCCL finds the transport of the fabric by itself; named, it is another one or the same"),
    ("NCCL_(ALGO|PROTO)", "one algorithm for every size of message is slow for most of them"),
    ("NCCL_BUFFSIZE", "the default of 4 MiB, or what the plug-in of a cloud sets, fits the links"),
    ("NCCL_(MIN|MAX)_(NCHANNELS|CTAS)", "NCCL counts its channels from the links that it finds"),
    ("NCCL_PXN_DISABLE", "on rails, traffic between GPUs of different numbers then crosses the spines"),
    ("NCCL_CROSS_NIC", "it only says whether rails reach each other, NCCL does not look, and the default fits both"),
    ("NCCL_NET_GDR_(LEVEL|READ)", "NCCL finds by itself which adapters reach a GPU's memory; a level can only switch it off"),
    ("NCCL_IB_GID_INDEX", "the index of the RoCE v2 entry can differ between hosts, and NCCL finds it by itself"),
    ("NCCL_(NVLS|MNNVL|CUMEM|CUMEM_HOST)_ENABLE", "it is on by itself where it works; a fixed value breaks it or the start"),
    ("NCCL_(TOPO_FILE|GRAPH_FILE)", "a drawing of another machine misleads NCCL about this one"),
    ("NCCL_(NSOCKS_PERTHREAD|SOCKET_NTHREADS)", "it concerns TCP alone"),
    ("NCCL_(TUNER|NET)_PLUGIN", "since 2.21 NCCL finds the plug-in of the machine by itself"),
    ("FI_PROVIDER|FI_EFA_USE_DEVICE_RDMA", "needless since libfabric 1.18 and plug-in 1.7, which find EFA by themselves"),
    ("FI_EFA_FORK_SAFE|RDMAV_FORK_SAFE", "needless or harmful since libfabric 1.18"),
    ("FI_EFA_ENABLE_SHM_TRANSFER", "the plug-in of EFA sets what it needs"),
)


def harm(name: str) -> str | None:
    """What a variable does that is better left alone; None for one that is not known for harm."""
    return next((why for pattern, why in _HARMFUL if re.fullmatch(pattern, name)), None)
