"""What libnccl makes of an nccl.conf."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from iacgen.diagnostics.model import Diagnostic
from iacgen.diagnostics.nearest import closest

from ..findings import finding
from ..judging import probe
from ..programs import Found
from .dialects import Values
from .lint import harm


def ask(name: str, content: bytes, values: Values, found: Found) -> tuple[list[Diagnostic], set[str]]:
    """Let the library read the file: every value must come back unchanged, every name must be one that it asks for.

    It reads the file twice. The first time as it is, and then NCCL may find no interface of that name on this machine; the
    second time with the loopback interface in the environment, which wins over the file, and then it must start. Returned are
    the findings and the names that it does not ask for.
    """
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "probe.conf")
        file.write_bytes(content)
        first, complaint = _probe(found, file, values, {})
        second, second_complaint = _probe(found, file, (), {"NCCL_SOCKET_IFNAME": "lo"})
    if first is None or second is None:
        return [finding("nccl-refused", f"{name}: libnccl ended with: {(complaint if first is None else second_complaint)[-400:]}")], set()
    if second["code"] != 0:
        why = next((line for line in second_complaint.splitlines() if "NCCL WARN" in line), "no reason given")
        return [finding("nccl-refused", f"{name}: ncclGetUniqueId returns {second['code']}: {why}")], set()
    findings = [
        finding("nccl-value-changed", f"{name}: {key}={value} is read as {first['values'][key]!r}")
        for key, value in values.items()
        if first["values"][key] != value
    ]  # fmt: skip
    unread = {key for key in values if key not in first["strings"]}
    for key in sorted(unread):
        near = closest(key, first["strings"], likeness=0.8)
        help = harm(key) or (f"did you mean {near}?" if near else None)
        findings.append(finding("unknown-nccl-variable", f"{name}: NCCL {found.version} does not read {key}", help=help))
    return findings, unread


def _probe(found: Found, file: Path, names: Iterable[str], more: dict[str, str]) -> tuple[Any, str]:
    # No ~/.nccl.conf of whoever runs this; the machine's own /etc/nccl.conf is read last and loses to ours.
    environment = {"HOME": str(file.parent), "NCCL_CONF_FILE": str(file), **more}
    return probe(found.path, "nccl_probe.py", str(found.companion), *names, env=environment, timeout=120)
