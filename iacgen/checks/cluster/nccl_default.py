"""A variable with the value that it has anyway.

Why: it does nothing today, and holds the value when a later NCCL finds a better one.

Bad::

    nccl:
      set: {NCCL_IB_RETRY_CNT: 7}

Good: leave it out, so that NCCL chooses.

Source: NCCL user guide 2.30, environment variables; the defaults in the source of 2.30.7.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_names import DEFAULTS
from ..nccl_readers import deaf
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC514", "nccl-default", "info")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name, value in wanted.set.items() if wanted else ():
        if DEFAULTS.get(name) == value and not deaf(subject, name):
            yield Found(f"{name} is {value} anyway", ("nccl", "set", name))
        elif name == "NCCL_MNNVL_ENABLE" and value == "0" and not any(pool.system.nvlink_domain_servers > 1 for pool in subject.design.pools.values()):
            yield Found(f"{name} {value} changes nothing: NVLink joins no two machines here", ("nccl", "set", name))
