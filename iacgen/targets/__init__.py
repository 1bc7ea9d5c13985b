"""One module an output; each turns the Project into the words of its templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

NAMES = ("slurm", "nccl", "acceptance", "deepspeed", "megatron", "fsdp", "launchers", "data", "terraform_aws", "ansible", "fabric", "facility", "drawings", "report")


PLANS = ("fabric", "facility", "drawings", "report")
"""What is written also for accelerators that no host file is written for."""


def targets(only: tuple[str, ...] | None = None) -> Iterator[Callable[..., dict[str, str]]]:
    """The ``render`` function of every target, or of those named: Project → path → text."""
    for name in only or NAMES:
        yield import_module(f"{__name__}.{name}").render
