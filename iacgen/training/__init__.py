"""The job: parameters, batch arithmetic, memory, process groups and their traffic. Takes plain numbers, knows no blueprint."""

from iacgen.training.memory import MemoryTable, StageMemory
from iacgen.training.parameters import Parameters
from iacgen.training.plan import Job, plan
from iacgen.training.spec import JobSpec
from iacgen.training.text import table_text
from iacgen.training.traffic import NodeGrid, Traffic

__all__ = ["Job", "JobSpec", "MemoryTable", "NodeGrid", "Parameters", "StageMemory", "Traffic", "plan", "table_text"]
