"""NCCL: variables that a cluster sets beside those that follow from its fabrics."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema

from .base import Description, Section

VariableName = Annotated[str, StringConstraints(pattern=r"^NCCL_[A-Z0-9_]{2,58}$")]
"""NCCL's own prefix: its configuration file hands NCCL nothing else."""

_WORD = r"^([A-Za-z0-9._/:=^,@+-]|%[hp]){1,500}$"
VariableValue = Annotated[
    str,
    BeforeValidator(lambda value: str(value) if type(value) is int else value),
    StringConstraints(pattern=_WORD),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": _WORD}]}),
]
"""One word: NCCL trims no blank and cuts a value at 1023 characters. In a file's name it puts host and process for %h and %p."""


class Nccl(Section):
    """Further variables of NCCL on all GPU hosts."""

    set: dict[VariableName, VariableValue] = Field(description="Variables and their values; each takes the place of what iacgen plans", examples=[{"NCCL_IB_TIMEOUT": "22"}])
    reason: Description | None = Field(None, description="Why they are set; it stands beside them in the files", examples=["The fabric needs two minutes to route around a dead switch"])
