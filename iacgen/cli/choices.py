"""What an option of several commands can be."""

from __future__ import annotations

from enum import Enum


class FindingFormat(str, Enum):
    """How findings are printed."""

    text = "text"
    concise = "concise"
    json = "json"
    sarif = "sarif"
    github = "github"
    markdown = "markdown"


class FailOn(str, Enum):
    """From which severity on a finding makes the exit code 1."""

    error = "error"
    warning = "warning"
    info = "info"
    never = "never"


class Profile(str, Enum):
    """How strictly the checks judge."""

    production = "production"
    lab = "lab"


class SiteKind(str, Enum):
    """Where a cluster stands."""

    on_prem = "on-prem"
    aws = "aws"


class ComputeFabric(str, Enum):
    """What GPUs of one's own talk over."""

    infiniband = "infiniband"
    roce = "roce"


class Drawn(str, Enum):
    """What a drawing shows."""

    fabric = "fabric"
    rail = "rail"
    racks = "racks"
    placement = "placement"


class ReviewFormat(str, Enum):
    """How a review is printed."""

    text = "text"
    markdown = "markdown"
    json = "json"


class Verdict(str, Enum):
    """From which effect on a review makes the exit code 1."""

    reconfigure = "reconfigure"
    restart = "restart"
    drain = "drain"
    replace = "replace"
    stop = "stop"
    recable = "recable"
    destroy = "destroy"
    impossible = "impossible"
