"""A variable that a plug-in reads, not NCCL.

Why: the files of iacgen are NCCL's own and hold no plug-in. Where the plug-in is missing, or is another version than the recipe was
written for, the variable does nothing.

Bad::

    nccl:
      set: {NCCL_FASTRAK_NUM_FLOWS: 2}

Good: source the profile that comes with the plug-in in the job's script.

Source: the profiles that Google Cloud and nccl-rdma-sharp-plugins ship with their plug-ins.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_names import plugin_of
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC517", "nccl-plugin-variable")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if plugin := plugin_of(name):
            yield Found(f"{name} is read by {plugin}, not by NCCL", ("nccl", "set", name), on_key=True)
