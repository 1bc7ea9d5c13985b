"""What is known of nodes that fail."""

from __future__ import annotations

from pydantic import Field

from .base import Seconds, Section


class Failures(Section):
    """How often nodes fail and how long they are missed."""

    per_1000_node_days: float = Field(4.0, ge=0.01, le=1000, description="Failures that stop the job, for 1,000 nodes and day; 2.3 to 6.5 are published", examples=[4.0, 6.5])
    restart: Seconds = Field(600, description="Time from a failure until the job reads its last checkpoint", examples=["10min"])
    repair: Seconds = Field(86400, description="Time until a failed node is back", examples=["1d", "4h"])
    availability: float | None = Field(None, ge=0.5, le=0.99999, description="Share of the time in which the job should have all its nodes, by spare ones", examples=[0.99])
