"""The findings of all judges: one id a slug."""

from __future__ import annotations

from iacgen.diagnostics.model import BlueprintPath, Diagnostic, Severity

_IDS = {
    "opensm-not-judged": "IAC800",
    "simgrid-not-judged": "IAC801",
    "fabric-judged-in-part": "IAC802",
    "malformed-cable-list": "IAC803",
    "opensm-refused": "IAC804",
    "other-routing-engine": "IAC805",
    "unreachable-adapter": "IAC806",
    "credit-loop": "IAC807",
    "congested-link": "IAC808",
    "unused-link": "IAC809",
    "second-opinion": "IAC810",
    "wiring-not-of-plan": "IAC811",
    "partition-not-of-plan": "IAC812",
    "slow-collective": "IAC813",
    "prediction-off": "IAC814",
    "torchrun-not-judged": "IAC820",
    "torchrun-refused": "IAC821",
    "openmpi-not-judged": "IAC822",
    "openmpi-refused": "IAC823",
    "rank-not-of-placement": "IAC824",
    "accelerate-not-judged": "IAC825",
    "accelerate-refused": "IAC826",
    "torchtitan-not-judged": "IAC827",
    "torchtitan-refused": "IAC828",
    "sharding-not-of-plan": "IAC829",
    "unreadable-file": "IAC830",
    "edited-value": "IAC831",
    "megatron-not-judged": "IAC840",
    "megatron-refused": "IAC841",
    "megatron-not-of-plan": "IAC842",
    "group-not-of-placement": "IAC843",
    "unplanned-megatron-argument": "IAC844",
    "idle-megatron-argument": "IAC845",
    "cache-not-judged": "IAC846",
    "cache-refused": "IAC847",
    "cache-not-of-plan": "IAC848",
    "slurm-not-judged": "IAC850",
    "slurm-refused": "IAC851",
    "slurm-complaint": "IAC852",
    "topology-not-of-fabric": "IAC853",
    "malformed-topology": "IAC854",
    "malformed-slurm-conf": "IAC855",
    "malformed-gres": "IAC856",
    "malformed-rank-file": "IAC857",
    "rank-order": "IAC858",
    "batch-script": "IAC859",
    "terraform-not-judged": "IAC860",
    "terraform-unformatted": "IAC861",
    "terraform-refused": "IAC862",
    "plan-not-of-design": "IAC863",
    "shell-syntax": "IAC864",
    "ansible-not-judged": "IAC870",
    "ansible-refused": "IAC871",
    "ansible-lint-complaint": "IAC872",
    "inventory-not-of-design": "IAC873",
    "missing-role-file": "IAC874",
    "broken-expression": "IAC875",
    "unknown-handler-or-group": "IAC876",
    "unused-variable": "IAC877",
    "ungated-action": "IAC878",
    "secret-in-tree": "IAC879",
    "deepspeed-not-judged": "IAC880",
    "deepspeed-refused": "IAC881",
    "unread-deepspeed-key": "IAC882",
    "idle-deepspeed-value": "IAC883",
    "deepspeed-not-of-plan": "IAC884",
    "hostfile-not-of-placement": "IAC885",
    "training-file-missing": "IAC886",
    "launch-not-of-plan": "IAC887",
    "dataloader-not-judged": "IAC888",
    "dataloader-refused": "IAC889",
    "nccl-not-judged": "IAC890",
    "nccl-file-missing": "IAC891",
    "malformed-environment": "IAC892",
    "unknown-nccl-variable": "IAC893",
    "nccl-value-changed": "IAC894",
    "nccl-refused": "IAC895",
    "dialects-disagree": "IAC896",
    "nccl-not-of-fabric": "IAC897",
    "unplanned-nccl-variable": "IAC898",
}

# Where nothing finer is known: the section of the blueprint that a judge's files come from.
_SECTIONS: dict[str, BlueprintPath] = {"IAC80": ("fabrics",), "IAC81": ("fabrics",), "IAC85": ("scheduler",), "IAC86": ("sites",)}


def finding(slug: str, message: str, path: BlueprintPath | None = None, help: str | None = None, severity: Severity = "error") -> Diagnostic:
    """A finding with the id that belongs to ``slug``. That a judge did not run is told and no fault."""
    id = _IDS[slug]
    where = _SECTIONS.get(id[:5], ()) if path is None else path
    return Diagnostic(id, slug, "info" if slug.endswith("-not-judged") else severity, message, where, help=help)


def some(names: object, most: int = 5) -> str:
    """A few names of many, sorted: ``gpu0001, gpu0002 and 30 more``."""
    listed = sorted(names)  # type: ignore[call-overload]
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
