"""Versions of what is installed; files are written for, and judged by, these."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from .base import Section, Version


class Software(Section):
    """Versions."""

    driver: Version = Field("580", description="NVIDIA driver branch", examples=["580"])
    nccl: Version = Field("2.32.3", description="NCCL", examples=["2.32.3"])
    deepspeed: Version = Field("0.19.8", description="DeepSpeed", examples=["0.19.8"])
    megatron: Version = Field("0.16.1", description="megatron-core", examples=["0.16.1"])
    lustre: Version = Field("2.15", description="Lustre client and servers", examples=["2.15"])
    time_servers: tuple[Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{1,252}$")], ...] = Field(("ntp.internal",), strict=False, min_length=1, description="NTP servers", examples=[["ntp1.example.com", "ntp2.example.com"]])
