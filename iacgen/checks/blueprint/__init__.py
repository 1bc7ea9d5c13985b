"""Checks that need the blueprint and the catalog alone. References come first: the others may follow every name."""

from .capacity import capacity
from .down_hosts import down_hosts
from .fsx_sizes import fsx_sizes
from .host_numbers import host_numbers
from .job_nodes import job_nodes
from .mounts import mounts
from .partitions import partitions
from .references import references
from .site_kinds import site_kinds
from .subnets import subnets

REFERENCES = (references,)
BLUEPRINT_CHECKS = (host_numbers, down_hosts, site_kinds, capacity, fsx_sizes, subnets, mounts, partitions, job_nodes)

__all__ = ["BLUEPRINT_CHECKS", "REFERENCES"]
