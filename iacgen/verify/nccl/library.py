"""What libnccl makes of an nccl.conf."""

from __future__ import annotations

import difflib
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from iacgen.diagnostics.model import Diagnostic

from ..process import Completed, run
from ..programs import Found
from .dialects import Values
from .findings import finding

_PROBE = Path(__file__).parents[1] / "drivers" / "nccl_probe.py"
_MARK = "PROBE "


def ask(name: str, content: bytes, values: Values, found: Found) -> list[Diagnostic]:
    """Let the library read the file: every value must come back unchanged, every name must be one that it asks for.

    It reads the file twice. The first time as it is, and then NCCL may find no interface of that name on this machine; the
    second time with the loopback interface in the environment, which wins over the file, and then it must start.
    """
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "probe.conf")
        file.write_bytes(content)
        first = _probe(found, file, values, {})
        second = _probe(found, file, (), {"NCCL_SOCKET_IFNAME": "lo"})
    refused = [answer.err.strip() or answer.out.strip() for answer in (first, second) if not answer.ok or _MARK not in answer.out]
    if refused:
        return [finding("nccl-refused", f"{name}: libnccl ended with: {refused[0][-400:]}")]
    said, started = _answer(first), _answer(second)
    if started["code"] != 0:
        return [finding("nccl-refused", f"{name}: ncclGetUniqueId returns {started['code']}: {_complaint(second)}")]
    findings = [
        finding("nccl-value-changed", f"{name}: {key}={value} is read as {said['values'][key]!r}")
        for key, value in values.items()
        if said["values"][key] != value
    ]  # fmt: skip
    for key in values:
        if key not in said["strings"]:
            near = difflib.get_close_matches(key, said["strings"], 1, 0.8)
            findings.append(finding("unknown-nccl-variable", f"{name}: NCCL {found.version} does not read {key}", help=f"did you mean {near[0]}?" if near else None))
    return findings


def _probe(found: Found, file: Path, names: Iterable[str], more: dict[str, str]) -> Completed:
    # No ~/.nccl.conf of whoever runs this; the machine's own /etc/nccl.conf is read last and loses to ours.
    environment = {"HOME": str(file.parent), "NCCL_CONF_FILE": str(file), **more}
    return run([found.path, "-I", _PROBE, str(found.companion), *names], env=environment, timeout=120)


def _answer(answer: Completed) -> dict:
    return json.loads(next(line for line in answer.out.splitlines() if line.startswith(_MARK)).removeprefix(_MARK))


def _complaint(answer: Completed) -> str:
    return next((line for line in answer.out.splitlines() if "NCCL WARN" in line), "no reason given")
