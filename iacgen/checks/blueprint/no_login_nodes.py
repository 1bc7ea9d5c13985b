"""No host for users to log in to.

Why: without one, users prepare and submit their jobs on the controller. One of them who starts a large program there stops the queue
for all.

Bad::

    nodes:
      gpu: {site: hall, system: dgx-h100, count: 64}
      ctl: {site: hall, system: generic-1u, count: 2}

Good: a pool without another duty, ``login: {site: hall, system: generic-1u, count: 2}``.

Source: ai4d-iasc/trixie#93, a program on the head node that ended slurmctld; omnia#444.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...blueprint import Blueprint
from ..duties import logins, queued
from ..rule import Found, rule

FEW = 16  # nodes; a judgement, no published limit


@rule("IAC258", "no-login-nodes", "info", lab=None)
def check(blueprint: Blueprint) -> Iterator[Found]:
    if blueprint.scheduler and not logins(blueprint) and sum(blueprint.nodes[pool].count for pool in queued(blueprint)) > FEW:
        yield Found("users have no host but the controller to log in to", ("scheduler", "controllers"))
