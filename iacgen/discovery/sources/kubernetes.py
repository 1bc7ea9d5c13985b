"""``kubectl get nodes -o json`` or ``-o yaml`` → the labels by which Kubernetes knows where a node is.

Sources of the keys: NVIDIA/topograph, Kubernetes engine (fabric.topograph.run/tier-0 is the leaf, further tiers above it;
accelerator.topograph.run/domain; before that network.topology.nvidia.com/leaf, spine, core and accelerator); Kubernetes documentation
of the AWS cloud provider (topology.k8s.aws/network-node-layer-1 is the top, ultraserver-id); Google Kubernetes Engine
(cloud.google.com/gce-topology-block, -subblock, -host, of which the host is the machine); Kueue's examples
(cloud.provider.com/topology-block, -rack); NVIDIA's device plugin and GPU feature discovery (nvidia.com/gpu.clique, gpu.product); AMD's
node labeller (amd.com/gpu.product-name); Kubernetes' well-known labels (node.kubernetes.io/instance-type). Nodes without GPUs have no places.
"""

from __future__ import annotations

import re
from typing import Any

from ..fields import Fields
from ..found import finding
from ..wiring import Wiring
from .paths import Place, wired

# Schemes from the top down; of several that a node has, the first is taken.
_TOPOGRAPH = re.compile(r"fabric\.topograph\.run/tier-(\d{1,2})")
_SCHEMES = (
    tuple(f"network.topology.nvidia.com/{word}" for word in ("core", "spine", "leaf")),
    tuple(f"topology.k8s.aws/network-node-layer-{n}" for n in range(1, 5)),
    tuple(f"cloud.google.com/gce-topology-{word}" for word in ("block", "subblock")),
    tuple(f"cloud.provider.com/topology-{word}" for word in ("block", "rack")),
)
_DOMAINS = ("accelerator.topograph.run/domain", "network.topology.nvidia.com/accelerator", "topology.k8s.aws/ultraserver-id", "nvidia.com/gpu.clique")
_TYPES = ("nvidia.com/gpu.product", "amd.com/gpu.product-name", "node.kubernetes.io/instance-type")
_ZONE = "topology.kubernetes.io/zone"


def nodes(values: list[Any]) -> list[Any]:
    """The nodes of lists, or one behind the other."""
    return [item for value in values for item in (value["items"] if isinstance(value, dict) and isinstance(value.get("items"), list) else [value])]


def is_so(values: list[Any]) -> bool:
    """Whether these are objects of Kubernetes."""
    return bool(values) and all(isinstance(v, dict) and v.get("kind") in ("Node", "NodeList", "List") for v in values)


def matters(path: tuple[str | int, ...]) -> bool:
    """Whether a place in the YAML is one that is read here."""
    here = path[2:] if path[:1] == ("items",) else path
    return len(here) < 2 or here[:2] in (("metadata", "name"), ("metadata", "labels"))


def read(values: list[Any], fields: Fields, wiring: Wiring) -> None:
    """Nodes by name. A node with an NVLink domain and no other place lies in that."""
    places: list[Place] = []
    words: tuple[str, ...] = ()
    schemes: dict[tuple[str, ...], None] = {}
    for where, item in fields.each(nodes(values), "items"):
        if item.get("kind", "Node") != "Node":
            continue
        metadata = fields.map(item, "metadata", where)
        name, labels = fields.text(metadata, "name", f"{where}.metadata"), fields.map(metadata, "labels", f"{where}.metadata")
        if name is None:
            fields.wrong(where, "metadata.name is wanted")
            continue
        scheme = _scheme(labels)
        steps = [(fields.text(labels, key, f"{where}.metadata.labels"), key) for key in scheme]
        domain = next(filter(None, (fields.text(labels, key, f"{where}.metadata.labels") for key in _DOMAINS)), None)
        said = tuple(_word(key) for step, key in steps if step)
        path = tuple(step for step, _ in steps if step) or ((domain,) if domain else ())
        schemes |= {scheme: None} if said else {}
        words = max(words, said, key=len)
        wiring.of_type(name, next(filter(None, (fields.text(labels, key, f"{where}.metadata.labels") for key in _TYPES)), None))
        places.append(Place(name, path, fields.text(labels, _ZONE, f"{where}.metadata.labels") or "", domain))
    fields.unfinished([value.get("metadata") for value in values if isinstance(value, dict) and "items" in value], "continue", wiring.unheard(place.host for place in places))
    if len(schemes) > 1:
        named = " and ".join(sorted(scheme[-1] for scheme in schemes))
        fields.findings.append(finding("switches-at-odds", f"nodes have labels of several kinds, {named}, and nothing says how those lie to each other", wiring.file))
    wired(wiring, places, words or ("block",))


def _scheme(labels: dict[str, Any]) -> tuple[str, ...]:
    """The keys of the first scheme that these labels have, from the top down."""
    tiers = sorted((int(match[1]) for key in labels if (match := _TOPOGRAPH.fullmatch(key))), reverse=True)
    own = tuple(f"fabric.topograph.run/tier-{n}" for n in range(tiers[0], -1, -1)) if tiers else ()
    return own or next((scheme for scheme in _SCHEMES if any(key in labels for key in scheme)), ())


def _word(key: str) -> str:
    """The last word of a key: leaf, rack, layer-3, tier-0."""
    return key.rpartition("/")[2].removeprefix("gce-topology-").removeprefix("topology-").removeprefix("network-node-")
