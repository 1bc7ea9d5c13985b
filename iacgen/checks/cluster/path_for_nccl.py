"""A path by which NCCL would load code or write a file.

Why: NCCL loads what ``*_PLUGIN`` and ``NCCL_IBVERBS_LIB`` name, and writes to what ``*_DUMP_FILE`` and ``NCCL_DEBUG_FILE`` name, in
every process that reads the setting, those of root included. A blueprint may come from a stranger's pull request, and whoever
judges it lets the library read it.

Bad::

    nccl:
      set: {NCCL_NET_PLUGIN: /shared/libnccl-net.so}
      reason: our own plug-in

Good: install the plug-in where the loader finds it, and write its name alone: ``NCCL_NET_PLUGIN: efa``. A dump is asked for in
the job that is looked into.

Source: NCCL user guide 2.30, environment variables; libnccl 2.32.3 loaded a library named by NCCL_ENV_PLUGIN (measured).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..rule import Found, rule
from ..subject import Subject

_LOADED_OR_WRITTEN = re.compile(r"NCCL_(\w+_)?(PLUGIN|LIB|DUMP_FILE)|NCCL_(DEBUG|CONF)_FILE")


@rule("IAC524", "path-for-nccl")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        if _LOADED_OR_WRITTEN.fullmatch(name) and ("/" in value or name.endswith("_FILE")):
            yield Found(f"{name} makes NCCL load or write {value}", ("nccl", "set", name), help="leave it out of the blueprint" if name.endswith("_FILE") else "write the plug-in's name alone")
