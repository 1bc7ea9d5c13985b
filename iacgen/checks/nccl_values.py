"""What each variable of NCCL takes for a value.

Sources: NCCL user guide 2.30, environment variables; the source of 2.30.7. NCCL_PARAM reads a number by ``strtoll`` with base 0: what is
none becomes 0, one that begins with nought is octal, and nobody is told. Words are compared, mostly letter by letter, and what equals
none of them is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .nccl_names import KNOWN


@dataclass(frozen=True)
class Value:
    """``wanted`` completes "write ..."; ``pattern`` is of the whole value."""

    wanted: str
    pattern: re.Pattern[str]

    def fits(self, value: str) -> bool:
        return self.pattern.fullmatch(value) is not None


@dataclass(frozen=True)
class Number(Value):
    """A whole number, decimal or hexadecimal, within a range."""

    least: int
    most: int

    def fits(self, value: str) -> bool:
        return super().fits(value) and self.least <= int(value, 0) <= self.most


def _number(least: int, most: int) -> Number:
    shown = "a whole number" if most > 2**31 else f"a number from {least:,} to {most:,}"
    return Number(shown, re.compile(r"-?(0|[1-9][0-9]{0,18})|0x[0-9a-f]{1,15}", re.IGNORECASE), least, most)


def _words(words: str, exact: bool = False) -> Value:
    """One of some words, letter by letter where ``exact``."""
    return Value(", ".join(words.split()), re.compile("|".join(map(re.escape, words.split())), 0 if exact else re.IGNORECASE))


def _list(words: str, prefix: str = "") -> Value:
    """Some of some words, or with ^ all but these."""
    word = f"({'|'.join(words.split())})"
    return Value(f"some of {', '.join(words.split())}, or ^ and those that are not wanted", re.compile(rf"({prefix})?\^?{word}(,{word})*", re.IGNORECASE))


_FUNCTIONS = "(broadcast|reduce|allgather|reducescatter|allreduce):"
_LEVELS = "LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS"
_SWITCH = Number("0 or 1, or 2 where the guide has it", re.compile(r"-?[0-2]"), -2, 2)
_FLAG = _words("0 1 true false T F")

_PATH = Value("an absolute path", re.compile(r"(/[A-Za-z0-9._=:,@+-]+)+"))

WORDS: Mapping[str, Value] = {
    "NCCL_ALGO": _list("tree ring collnetdirect collnetchain nvls nvlstree pat", _FUNCTIONS),
    "NCCL_CHECK_MODE": _words("DEBUG_LOCAL DEBUG_GLOBAL"),
    "NCCL_CTA_POLICY": _words("DEFAULT EFFICIENCY ZERO 0 1 2"),
    "NCCL_DEBUG": _words("VERSION WARN INFO ABORT TRACE"),
    "NCCL_DEBUG_SUBSYS": _list("INIT COLL P2P SHM NET GRAPH TUNING ENV ALLOC ALLOC_HOST CALL PROXY NVLS BOOTSTRAP REG PROFILE RAS DESTROY ALL"),
    "NCCL_DEBUG_TIMESTAMP_LEVELS": _list("VERSION WARN INFO ABORT TRACE ALL"),
    "NCCL_GRAPH_FILE": _PATH,
    "NCCL_IB_ADDR_FAMILY": _words("AF_INET AF_INET6", exact=True),
    "NCCL_IB_ADDR_RANGE": Value("a network, as 10.0.0.0/8", re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}/([0-9]|[12][0-9]|3[0-2])|[0-9a-fA-F:]+/[0-9]{1,3}")),
    "NCCL_LAUNCH_MODE": _words("PARALLEL GROUP"),
    "NCCL_NETDEVS_POLICY": Value("AUTO, ALL, or MAX:1", re.compile(r"auto|all|max:[1-9][0-9]{0,3}", re.IGNORECASE)),
    "NCCL_NET_GDR_LEVEL": _words(_LEVELS, exact=True),  # integers are taken, and discouraged: their meaning has changed
    "NCCL_NET_MERGE_LEVEL": _words("LOC PORT PIX PXB P2C PXN PHB SYS", exact=True),
    "NCCL_NET_MERGE_POLICY": _words("ALL RAIL"),
    "NCCL_NTHREADS": _words("64 128 256 512"),
    "NCCL_P2P_LEVEL": _words(_LEVELS, exact=True),
    "NCCL_PROTO": _list("LL LL128 Simple", _FUNCTIONS),
    "NCCL_PROXY_CPUSET": Value("processors, as 0-3,8", re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")),
    "NCCL_RAS_ADDR": Value("a host or an address, and a port, as localhost:28028", re.compile(r"[A-Za-z0-9._-]*:[1-9][0-9]{0,4}")),
    "NCCL_SET_THREAD_NAME": _FLAG,
    "NCCL_SOCKET_FAMILY": _words("AF_INET AF_INET6", exact=True),
    "NCCL_TOPO_FILE": _PATH,
    "NCCL_WARN_ENABLE_DEBUG_INFO": _FLAG,
}
"""Variables that take words."""

FREE = frozenset(
    f"NCCL_{word}"
    for word in """COMM_ID CONF_FILE DEBUG_FILE DEBUG_LEVELS DEBUG_TIMESTAMP_FORMAT ENV_PLUGIN GIN_PLUGIN GRAPH_DUMP_FILE HOSTID IBVERBS_LIB IB_HCA
    IB_PKEY IB_RAIL_POLICY NET NET_FORCE_MERGE NET_PLUGIN NO_CACHE OOB_NET_IFNAME PARAM_DUMP_ALL PROFILER_PLUGIN PROGRESS_COUNTERS RMA_PLUGIN RUN_DIAGNOSTICS
    RUN_RAS_DIAGNOSTICS SOCKET_IFNAME SYM_KERNEL THREAD_THRESHOLDS TOPO_DUMP_FILE TUNER_PLUGIN""".split()
)
"""Variables that take names of the machine's or the user's own, whose values neither guide nor source tells, or that have a check of their own."""

_RANGES: Mapping[str, tuple[int, int]] = {
    "BUFFSIZE": (1, 2**31 - 1),  # bytes, in an int
    "CGA_CLUSTER_SIZE": (0, 8),
    "CROSS_NIC": (0, 2),
    "GRAPH_MIXING_SUPPORT": (0, 1),
    "IB_FIFO_TC": (-1, 255),  # a byte of the packet; -1 leaves it to NCCL
    "IB_GID_INDEX": (-1, 255),
    "IB_QPS_PER_CONNECTION": (1, 128),
    "IB_RETRY_CNT": (0, 7),
    "IB_ROCE_VERSION_NUM": (1, 2),
    "IB_SL": (-1, 15),  # four bits
    "IB_SUBNET_PREFIX_LEN": (1, 32),
    "IB_TC": (-1, 255),
    "IB_TIMEOUT": (1, 31),
    "MAX_CTAS": (1, 64),  # MAXCHANNELS
    "MAX_NCHANNELS": (1, 64),
    "MAX_NRINGS": (1, 64),
    "MAX_P2P_NCHANNELS": (1, 64),
    "MIN_CTAS": (1, 64),
    "MIN_NCHANNELS": (1, 64),
    "MIN_NRINGS": (1, 64),
    "MIN_P2P_NCHANNELS": (1, 64),
    "NSOCKS_PERTHREAD": (-2, 64),
    "SOCKET_NTHREADS": (-2, 16),
}
_ANY = (-2, 2**63 - 1)  # -1 and -2 leave most of them to NCCL

NUMBERS: Mapping[str, Value] = {
    name: _SWITCH if re.search(r"_(EN|DIS)ABLED?$", name) else _number(*_RANGES.get(name.removeprefix("NCCL_"), _ANY)) for name in sorted(KNOWN - WORDS.keys() - FREE)
}
"""Variables that take a number."""


def wanted(name: str, value: str) -> str | None:
    """What a variable takes, where ``value`` is nothing of it; None where it fits, or where nothing is known."""
    kind = WORDS.get(name) or NUMBERS.get(name)
    return None if kind is None or kind.fits(value) else kind.wanted
