"""One module an output; each turns the Project into the words of its templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

NAMES = ("slurm", "nccl", "acceptance", "deepspeed", "megatron", "fsdp", "launchers", "data", "terraform_aws", "ansible", "fabric", "facility", "drawings", "report")


def targets() -> Iterator[Callable[..., dict[str, str]]]:
    """The ``render`` function of every target: Project → path → text."""
    for name in NAMES:
        yield import_module(f"{__name__}.{name}").render
