"""The bytes of one file → what it says of the topology, whichever of the known sources it is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Diagnostic, errors
from .collapse import collapse
from .fields import Fields
from .found import Found, finding
from .sources import aws, azure, gcp, ibnetdiscover, kubernetes, netq, slurm, topograph, topology_yaml, ufm
from .text import Unreadable, decode, document, values
from .wiring import Wiring


@dataclass(frozen=True)
class Kind:
    """A source: what its file is called, and the commands or programs that make it."""

    name: str
    form: str  # "text", "json" or "yaml", of which JSON is a part
    about: str


KINDS = (
    Kind("aws-instance-topology", "json", "aws ec2 describe-instance-topology"),
    Kind("gcp-placement", "json", "gcloud compute instances list --format=json"),
    Kind("azure", "json", "az vm list, az vmss list-instances --expand instanceView, or instance metadata"),
    Kind("ibnetdiscover", "text", "ibnetdiscover"),
    Kind("ufm", "json", "UFM's REST API: resources/links, with resources/systems and resources/ports"),
    Kind("netq", "json", "NetQ's topology graph, or netq show lldp json"),
    Kind("slurm", "text", "topology.conf, scontrol show topology, azslurm topology"),
    Kind("topology.yaml", "yaml", "topology.yaml of Slurm 25.05 and later"),
    Kind("kubernetes", "yaml", "kubectl get nodes -o json, or -o yaml"),
    Kind("topograph", "yaml", "a model of topograph"),
)
_TEXT: dict[str, Any] = {"ibnetdiscover": ibnetdiscover, "slurm": slurm}
_OF_MANY: dict[str, Any] = {"aws-instance-topology": aws, "gcp-placement": gcp, "azure": azure, "ufm": ufm, "netq": netq, "kubernetes": kubernetes}
_OF_ONE: dict[str, Any] = {"topology.yaml": topology_yaml, "topograph": topograph}  # one value, where the others may have several


def read(raw: bytes, name: str, kind: str | None = None, names: Mapping[str, str] | None = None) -> Found:
    """What the file ``name`` with the bytes ``raw`` says.

    ``kind`` is one of :data:`KINDS` by name; by default the content decides. ``names`` gives hosts the names that the blueprint knows
    them by: instance id, or GUID of an adapter → host. Never raises for what stands in a file: that is a finding (IAC45x, or IAC0xx of YAML).
    """
    try:
        text = decode(raw, name)
        data, said = _data(text, name, kind)
        guessed = kind or _guess(text, data, name, said)
        findings = [f for f in said if guessed != "kubernetes" or not f.path or kubernetes.matters(f.path)]
        if guessed not in {k.name for k in KINDS}:
            raise Unreadable(_unknown(f"there is no source {guessed!r}", name))
        if errors(findings):
            return Found(guessed, findings=tuple(findings))
        wirings, wrong = _wired(guessed, text, data, name, dict(names or {}))
    except Unreadable as stop:
        return Found(kind, findings=(stop.finding,))
    return _found(guessed, wirings, [*findings, *wrong], name)


def _found(kind: str, wirings: list[Wiring], findings: list[Diagnostic], file: str) -> Found:
    if errors(findings):
        return Found(kind, adrift=tuple(dict.fromkeys(name for wiring in wirings for name in wiring.settle()[0])), findings=tuple(findings))
    collapsed = [collapse(wiring) for wiring in wirings]
    hierarchies = tuple(hierarchy for some, _, _ in collapsed for hierarchy in some)
    adrift = tuple(dict.fromkeys(name for _, some, _ in collapsed for name in some))
    findings += [f for _, _, some in collapsed for f in some]
    if not hierarchies and not errors(findings):
        findings.append(finding("topology-out-of-form", "the file places no host under any switch", file))
    return Found(kind, () if errors(findings) else hierarchies, adrift, tuple(findings))


def _data(text: str, file: str, kind: str | None) -> tuple[list[Any] | None, list[Diagnostic]]:
    """(the values of JSON, or the one of YAML, or None for other text; what is wrong with the YAML). Raises Unreadable."""
    if not text.strip():
        raise Unreadable(_unknown("there is nothing in this file", file))
    if kind in _TEXT or (kind is None and any(source.LOOKS.search(text) for source in _TEXT.values())):
        return None, []
    if text.lstrip()[:1] in ("{", "[") and kind not in _OF_ONE:
        return values(text, file), []
    data, findings = document(text, file)
    return [data], findings


def _guess(text: str, data: list[Any] | None, file: str, said: list[Diagnostic]) -> str:
    """The one source whose form this is. Raises Unreadable for none and for several; where the YAML is at fault, with what is wrong with it."""
    if data is None:
        fits = [name for name, source in _TEXT.items() if source.LOOKS.search(text)]
    else:
        fits = [name for name, source in _OF_MANY.items() if source.is_so(data)]
        fits += [name for name, source in _OF_ONE.items() if len(data) == 1 and source.is_so(data[0])]
    if len(fits) == 1:
        return fits[0]
    if errors(said):
        raise Unreadable(errors(said)[0])
    raise Unreadable(_unknown(f"this may be of {' or of '.join(fits)}" if fits else "this is of no source that is known", file))


def _unknown(words: str, file: str) -> Diagnostic:
    return finding("unknown-topology", words, file, help=f"name the source; there are {', '.join(kind.name for kind in KINDS)}")


def _wired(kind: str, text: str, data: list[Any] | None, file: str, names: dict[str, str]) -> tuple[list[Wiring], list[Diagnostic]]:
    """The wirings that a file of this kind tells, one but for topology.yaml, and what is wrong with it."""
    fields, wiring = Fields(file), Wiring("fabric", file, names)
    if data is None:
        return [wiring], _TEXT[kind].read(text, wiring)
    if kind == "topology.yaml":
        return list(topology_yaml.read(data[0], fields, file, names)), fields.findings
    if kind == "topograph":
        topograph.read(data[0], fields, wiring)
    else:
        _OF_MANY[kind].read(data, fields, wiring)
    return [wiring], fields.findings
