"""A path or a library of unknown origin by which NCCL would load code or write a file.

Why: NCCL loads what ``*_PLUGIN`` and ``NCCL_IBVERBS_LIB`` name, and writes to what ``*_DUMP_FILE`` and ``NCCL_DEBUG_FILE`` name, in
every process that reads the setting, those of root included. A blueprint may come from a stranger's pull request, and whoever
judges it lets the library read it. A word does the same as a path: NCCL loads libnccl-net-WORD.so of wherever the loader looks, and
where there is none it goes on without, silently and slowly.

Bad::

    nccl:
      set: {NCCL_NET_PLUGIN: /shared/libnccl-net.so}
      reason: our own plug-in

Good: install the plug-in where the loader finds it, and write its name alone: ``NCCL_NET_PLUGIN: ofi``. A plug-in of one's own is
named in the job's script, beside the path to it. A dump is asked for in the job that is looked into.

Source: NCCL user guide 2.30, environment variables; libnccl 2.32.3 loaded a library named by NCCL_ENV_PLUGIN (measured). The names are
those of aws-ofi-nccl, nccl-rdma-sharp-plugins, Google Cloud's NCCL plug-ins, rdma-core and NCCL itself (inspector).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

_LOADED_OR_WRITTEN = re.compile(r"NCCL_(\w+_)?(PLUGIN|LIB|DUMP_FILE)|NCCL_(DEBUG|CONF)_FILE|NCCL_COMM_ID")

_PUBLIC = {
    "NCCL_NET_PLUGIN": {"none", "ofi", "aws-ofi", "libnccl-net.so", "libnccl-net-ofi.so", "libnccl-net-aws-ofi.so"},
    "NCCL_PROFILER_PLUGIN": {"none", "inspector", "libnccl-profiler-inspector.so"},
    "NCCL_IBVERBS_LIB": {"libibverbs.so", "libibverbs.so.1"},
    "NCCL_TUNER_PLUGIN": {"none", "ofi", "libnccl-net.so", "libnccl-net-ofi.so", "libnccl-ofi-tuner.so", "libnccl-tuner.so"},
}
"""Variable → the words of public libraries; of any other variable ``none`` alone."""


@rule("IAC524", "path-for-nccl")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        if not _LOADED_OR_WRITTEN.fullmatch(name):
            continue
        if name == "NCCL_COMM_ID":
            yield Found(f"{name} makes every job of the cluster look for its first rank at {value}", ("nccl", "set", name), help="leave it out of the blueprint: launchers agree on it job by job")
            continue
        if "/" in value or name.endswith("_FILE"):
            help = "leave it out of the blueprint" if name.endswith("_FILE") else "write the plug-in's name alone"
            yield Found(f"{name} makes NCCL load or write {value}", ("nccl", "set", name), help=help)
            continue
        public = _PUBLIC.get(name, {"none"})
        if unknown := sorted(set(value.split(",")) - public):
            help = f"write {' or '.join(sorted(public))}; a library of your own is named in the job's script"
            yield Found(f"{name} makes NCCL load what is no public library: {', '.join(unknown)}", ("nccl", "set", name), help=help)
