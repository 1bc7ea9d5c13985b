"""Two places on purpose: checks may not import targets, and both speak of the memory that a node offers to jobs."""

from iacgen.checks.cluster.limit_below_node import SCHEDULABLE
from iacgen.targets.slurm import nodes


def test_the_check_of_limits_counts_as_slurm_conf_does():
    assert SCHEDULABLE == nodes._SCHEDULABLE
