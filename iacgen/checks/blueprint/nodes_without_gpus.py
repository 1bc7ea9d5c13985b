"""A training job on machines without GPUs.

Why: memory, time and launch files are worked out for GPUs; on these nodes the job has nowhere to run.

Bad::

    training:
      pretrain: {model: llama-3-8b, nodes: login}

Good::

    training:
      pretrain: {model: llama-3-8b, nodes: gpu}

Source: bibigrid#705, GPU settings given to nodes without a GPU stop slurmd.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import catalog
from ...blueprint import Blueprint
from ...diagnostics import Related
from ..rule import Found, rule


@rule("IAC224", "nodes-without-gpus")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        system = blueprint.nodes[job.nodes].system
        if not catalog.system(system).gpus and not catalog.system(system).tpus:
            yield Found(f"{system} has no GPU", ("training", name, "nodes"), (Related(("nodes", job.nodes, "system"), "what they are"),))
