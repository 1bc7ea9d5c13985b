"""PyTorch's variable under the name that it had.

Why: the name looks like one of NCCL, which never read it, and PyTorch has moved to another. Hangs are then not ended as was meant.

Bad::

    nccl:
      set: {NCCL_ASYNC_ERROR_HANDLING: 1}

Good: ``TORCH_NCCL_ASYNC_ERROR_HANDLING=1`` in the training script's environment.

Source: PyTorch's documentation, ProcessGroupNCCL environment variables; renamed in 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..nccl_names import PYTORCH
from ..rule import Found, rule
from ..subject import Subject


@rule("IAC518", "pytorch-variable")
def check(subject: Subject) -> Iterator[Found]:
    wanted = subject.blueprint.nccl
    for name in wanted.set if wanted else ():
        if name in PYTORCH:
            yield Found(f"{name} is PyTorch's", ("nccl", "set", name), help=f"set {PYTORCH[name]} for the training script", on_key=True)
