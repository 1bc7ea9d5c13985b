"""Ask a real subnet manager: opensm brings the planned wiring up in ibsim with the generated files, and its routes are walked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from iacgen.diagnostics.model import BlueprintPath, Diagnostic, errors

from .. import programs
from ..findings import finding, some
from ..judging import NOT_APPLICABLE, Outcome, timed
from ..verdict import Verdict
from .discovered import words
from .evidence import MOST, Evidence, gather
from .plan import Link, Plan, of_fabric
from .rules import of_engine, of_evidence, of_plan, of_settings
from .session import Programs
from .settings import Settings
from .tree import MANAGERS, ListError, lists, ranks, settings
from .tree import READS as FILES

if TYPE_CHECKING:
    from iacgen.design.fabric.model import Fabric

READS = (*(f"fabric/*/{name}" for name in FILES), *(f"fabric/*/*/{name}" for name in MANAGERS))


def applies(tree: Path) -> bool:
    """True when the tree has the files of an InfiniBand fabric: it alone has a map of adapters."""
    return any(tree.glob("fabric/*/hca-map.csv"))


def reads(tree: Path) -> list[str]:
    """The files of InfiniBand fabrics: those of Ethernet have some of the same names, and nobody here to read them."""
    return ["training/*/hostfile"] * applies(tree) + [f"fabric/{file.parent.name}/{name}" for file in tree.glob("fabric/*/hca-map.csv") for name in (*FILES, *(f"*/{own}" for own in MANAGERS))]


def verify(tree: Path, project: Any) -> Verdict:
    """The verdict on ``tree``, of which ``project`` has the ``design`` and the ``placements``."""

    def asked() -> Outcome:
        if not applies(tree) and not infiniband(project):
            return NOT_APPLICABLE
        found = programs.find("opensm")
        if isinstance(found, programs.Missing):
            return "missing", [finding("opensm-not-judged", str(found))], None
        findings = [fault for fabric in infiniband(project) for fault in _fabric(tree, project, fabric)]
        return outcome(findings, found.version)

    return timed("opensm", "opensm", asked)


def outcome(findings: list[Diagnostic], version: str | None) -> Outcome:
    """No fault passes, but not where the program gave no answer, or a fabric was too large for a part of the proof: that is none."""
    if errors(findings):
        return "failed", findings, version
    if any(f.slug.endswith("-not-judged") for f in findings):
        return "missing", findings, None
    return "in-part" if any(f.slug == "fabric-judged-in-part" and f.severity == "warning" for f in findings) else "passed", findings, version


def infiniband(project: Any) -> list[Fabric]:
    """The InfiniBand fabrics of a project whose switches are ours, by name."""
    return sorted((f for f in project.design.fabrics.values() if f.technology == "infiniband" and f.tiers), key=lambda f: f.name)


def ranked(tree: Path, project: Any, fabric: Fabric) -> tuple[str, ...]:
    """Hosts in rank order as the tree has them: on a compute fabric those of its largest job, from the file by which it is started; where
    there is no job, nobody has said. A dragonfly has a file of its own: it is judged by the shifts of all its hosts, and a job's order there
    serves that job's rings and pipelines alone. Raises ListError."""
    if fabric.topology.startswith("dragonfly"):
        return ranks(tree, fabric.name, None)
    on = {*fabric.hosts}
    placed = {name: p.hosts for name, p in project.placements.items() if fabric.purpose == "compute" and on.issuperset(p.hosts) and not project.design.pool_of(p.hosts[0]).only_planned}
    return ranks(tree, fabric.name, max(placed, key=lambda name: len(placed[name]))) if placed else ()


def managed_here(fabric: Fabric) -> bool:
    """Whether the tree has the files of the fabric's subnet manager."""
    return fabric.manager is not None and fabric.manager.kind == "opensm"


def examined(plan: Plan, wired: Plan, given: Settings) -> Evidence:
    """One session on ``wired``, which should be ``plan``. Raises LookupError where a program is missing."""
    found = programs.fabric_programs()
    if isinstance(found, programs.Missing):
        raise LookupError(str(found))
    return gather(wired, given, Programs(**found))


class Subnet(NamedTuple):
    """What is asked of one: its plan, the wiring that the tree's cable list has for it, and the settings of its manager."""

    name: str
    plan: Plan
    wired: Plan
    given: Settings


def subnets(tree: Path, project: Any, fabric: Fabric) -> Iterator[Subnet]:
    """Each subnet of a fabric, which has a session of its own: rails or planes that nothing joins are several. Raises ListError."""
    top, own = tree / "fabric" / fabric.name, managed_here(fabric)
    listed, hosts = lists(top).cables, ranked(tree, project, fabric)
    for subnet in fabric.subnets:
        plan = of_fabric(subnet, hosts)
        plan = plan if own else replace(plan, mtu=None)  # another product has partitions of its own
        wired = plan.with_links(listed if subnet is fabric else tuple(_within(plan, listed)))
        yield Subnet(subnet.name, plan, wired, settings(top / subnet.folder, subnet.name, plan, own))


def _within(plan: Plan, listed: tuple[Link, ...]) -> Iterator[Link]:
    """The links of a list that end in this subnet, which knows the port of an adapter without the number of its plane."""
    for link in listed:
        if link.b in plan.ports:
            yield link if link.a in plan.ports else link._replace(a=link.a.partition("/")[0])


def _fabric(tree: Path, project: Any, fabric: Fabric) -> list[Diagnostic]:
    path = fabric.origin
    try:
        listed = lists(tree / "fabric" / fabric.name)
        plan = of_fabric(fabric, ranked(tree, project, fabric))
        findings = [*_agree(plan, listed.cables, f"{fabric.name}/cables.csv", path), *_agree(plan, listed.p2p, f"{fabric.name}/p2p.csv", path)]
        if findings:
            return findings
        found = [fault for subnet in subnets(tree, project, fabric) for fault in of_subnet(fabric, subnet, _subnet(subnet, path))]
        return found if managed_here(fabric) else [*found, _stands_in(fabric)]
    except ListError as error:
        return [finding("malformed-cable-list", str(error), path)]


def _stands_in(fabric: Fabric) -> Diagnostic:
    product = "UFM" if fabric.manager and fabric.manager.kind == "ufm" else "a subnet manager that the blueprint does not name"
    text = f"{product} manages {fabric.name}: opensm stood in for it, with an engine, a list of compute ports and a default partition of its own; cables and what they can carry were judged, not the settings of that product"
    return finding("fabric-judged-in-part", text, fabric.origin, severity="info")


def _agree(plan: Plan, links: tuple[Any, ...], file: str, path: BlueprintPath) -> Iterator[Diagnostic]:
    """A list that claims a port twice, or has other links than the design: said before any program runs."""
    yield from of_plan(plan.with_links(links), path)
    wanted, listed = {*plan.links}, {*links}
    gone, extra = wanted - listed, listed - wanted
    if gone or extra:
        yield finding("wiring-not-of-plan", f"{file} has not {len(gone)} links of the design and {len(extra)} others: {some(map(words, gone or extra), 3)}", path)


def of_subnet(fabric: Fabric, subnet: Subnet, findings: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings with the name of the subnet, where the fabric has several."""
    return (replace(fault, message=f"{subnet.name}: {fault.message}") if len(fabric.subnets) > 1 else fault for fault in findings)


def _subnet(subnet: Subnet, path: BlueprintPath) -> list[Diagnostic]:
    _, plan, wired, given = subnet
    if len(plan.adapters) > MOST:
        text = f"{len(plan.adapters):,} adapters are more than the simulator is asked to hold ({MOST:,}): only the cable lists were compared with the design"
        return [finding("fabric-judged-in-part", text, path, severity="warning")]
    return [*of_settings(plan, given, path), *of_engine(plan, given, path), *of_evidence(plan, given, examined(plan, wired, given), path)]
