"""From evidence to findings: each fault that ends in SUBNET UP all the same has a rule that sees it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from iacgen.diagnostics.model import BlueprintPath, Diagnostic

from ..findings import finding, some
from .discovered import compare, words
from .evidence import Evidence
from .marks import mark
from .plan import Plan
from .settings import Settings

_ENGINE = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured on all switches")
_FULL_DEFAULT = (0xFFFF,)
_BROADCAST = re.compile(r"MGID\.+ff12:401b:ffff::ffff:ffff\s+Mlid\S+\s+Mtu\.+0x([0-9A-Fa-f]+)")


def of_plan(plan: Plan, path: BlueprintPath) -> Iterator[Diagnostic]:
    """A cable list that no fabric can have: ports used twice, or that the device has not."""
    ends = Counter((end, port) for link in plan.links for end, port in ((link.a, link.a_port), (link.b, link.b_port)))
    twice = [f"{name} port {port}" for (name, port), uses in ends.items() if uses > 1]
    beyond = [f"{name} port {port}" for name, port in ends if not 1 <= port <= plan.ports.get(name, 1)]
    strange = {name for name, _ in ends} - {*plan.adapters, *plan.switches}
    if twice:
        yield finding("malformed-cable-list", f"ports that two cables claim: {some(twice)}", path)
    if beyond:
        yield finding("malformed-cable-list", f"ports that the device has not: {some(beyond)}", path)
    if strange:
        yield finding("malformed-cable-list", f"ends that are no device of the fabric: {some(strange)}", path)


def of_settings(plan: Plan, settings: Settings, path: BlueprintPath) -> Iterator[Diagnostic]:
    """What the settings ask for that must go wrong somewhere, even if not here."""
    for key in settings.relative:
        yield finding("opensm-refused", f"{key} is a relative path, {settings.keys[key]}: opensm as a daemon does not find it, and guesses", path)
    for key in settings.absent:
        yield finding("opensm-refused", f"{key} names {settings.keys[key]}, which the tree does not have", path)
    if settings.may_fall_back:
        yield finding("other-routing-engine", f"routing_engine {settings.keys.get('routing_engine', 'is not set and')} falls to minhop without a word; end the list with no_fallback", path)


def of_engine(plan: Plan, settings: Settings, path: BlueprintPath) -> Iterator[Diagnostic]:
    """Another engine in the file than the design has: it may route as well on the fabric that was simulated, and not on every one that grows or
    breaks out of it. Only what a tree was generated with is held to it."""
    if settings.engines and settings.engines != (plan.engine,):
        yield finding("other-routing-engine", f"routing_engine {settings.keys['routing_engine']}, where the design has {plan.engine}", path)


def of_evidence(plan: Plan, settings: Settings, seen: Evidence, path: BlueprintPath) -> list[Diagnostic]:
    """All that is wrong, what stops everything first."""
    if seen.trouble:
        return [finding("opensm-refused", seen.trouble, path)]
    out = [finding("opensm-refused", line, path) for line in seen.errors[:3]]
    if not seen.up:
        return [finding("opensm-refused", f"no SUBNET UP within {seen.seconds:.0f} s, with {len(seen.errors)} error lines", path), *out]
    out += [*_engine(settings, seen, path), *_wiring(plan, seen, path), *_partitions(plan, seen, path), *_routes(seen, path)]
    if seen.routes and not (seen.routes.unreachable or seen.routes.loops):
        out += [*_cycles(seen, path), *_congestion(plan, settings, seen, path)]
    if seen.left:
        text = f"{len(plan.adapters):,} adapters: brought up, compared with the cable list and every route walked, but {' and '.join(seen.left)}"
        return [*out, finding("fabric-judged-in-part", text, path, severity="warning")]
    return [*out, *_second(seen, path)]


def _engine(settings: Settings, seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    used = _ENGINE.findall(seen.log)
    asked = settings.engines[0] if settings.engines else "minhop"
    if not used or used[-1] != asked:
        yield finding("other-routing-engine", f"{asked} was asked for, and {used[-1] if used else 'no engine'} set the routes", path)


def _wiring(plan: Plan, seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    assert seen.wiring is not None
    gone, extra = compare(plan.links, seen.wiring)
    if gone:
        yield finding("wiring-not-of-plan", f"{len(gone)} cables of the list are not in the fabric: {some(map(words, gone), 3)}", path)
    if extra:
        yield finding("wiring-not-of-plan", f"{len(extra)} links of the fabric are not in the list: {some(map(words, extra), 3)}", path)


def _partitions(plan: Plan, seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    assert seen.keys is not None
    wrong = {name: keys for name, keys in seen.keys.items() if not _same(keys, plan.keys.get(name, _FULL_DEFAULT))}
    if wrong:
        name = min(wrong)
        wanted, has = (" ".join(f"{key:#06x}" for key in keys) or "none" for keys in (plan.keys.get(name, _FULL_DEFAULT), wrong[name]))
        yield finding("partition-not-of-plan", f"{len(wrong)} adapters have other P_Keys than planned; {name} has {has}, not {wanted}", path)
    group = _BROADCAST.search(seen.groups)
    if plan.mtu is not None and (group is None or int(group[1], 16) & 0x3F != plan.mtu):
        has = f"MTU code {int(group[1], 16) & 0x3F}" if group else "none"
        yield finding("partition-not-of-plan", f"the broadcast group of the default partition is planned with MTU code {plan.mtu}, and there is {has}", path)


def _same(keys: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """The same keys, and the same first one: that is the key which NCCL and others take. opensm orders the rest as it likes."""
    return keys[:1] == wanted[:1] and sorted(keys) == sorted(wanted)


def _routes(seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    routes = seen.routes
    if routes is None:
        return
    if routes.unreachable:
        near, far = routes.example(routes.lost)
        yield finding("unreachable-adapter", f"{routes.unreachable} of {routes.pairs} pairs have no route, such as {near} to {far}", path)
    if routes.loops:
        near, far = routes.example(routes.looping)
        yield finding("unreachable-adapter", f"{routes.loops} of {routes.pairs} pairs circle for ever, such as {near} to {far}", path)


def _cycles(seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    if seen.cycle is None:
        return
    lane, channels = seen.cycle
    way = ", ".join(f"{switch} port {port}" for switch, port in channels[:4])
    on = f"on lane {lane}" if seen.laned else "as if all traffic had one lane"
    yield finding("credit-loop", f"{len(channels)} links wait for each other in a circle, {on}: {way}{', ...' if len(channels) > 4 else ''}", path)


def _congestion(plan: Plan, settings: Settings, seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    if seen.routes is None or seen.congestion is None or not seen.routes.channels:
        return
    wanted, has = mark(plan, "cn_guid_file" in settings.keys), seen.congestion
    if has.worst > wanted.flows:
        where = f"from {has.switch} by port {has.port} at shift {has.shift}; {has.clean} of {has.total} shifts are clean"
        yield finding("congested-link", f"{has.worst} flows meet on one link, {where}. {wanted.why} has at most {wanted.flows}", path)
    idle = seen.routes.unused()
    if len(idle) > wanted.idle:
        ends = some((f"{switch} to {far}" for switch, _, far in idle), 3)
        yield finding("unused-link", f"{len(idle)} of {len(seen.routes.channels)} directed links between switches carry no route: {ends}. {wanted.why} may have {wanted.idle}", path)


def _second(seen: Evidence, path: BlueprintPath) -> Iterator[Diagnostic]:
    """ibdmchk must have scanned every pair, and come to the same word about missing paths and credit loops."""
    opinion, routes = seen.opinion, seen.routes
    if opinion is None or routes is None:
        yield finding("second-opinion", "ibdmchk was not heard", path)
        return
    if opinion.scanned != routes.pairs:
        yield finding("second-opinion", f"ibdmchk scanned {opinion.scanned} paths of {routes.pairs}: {'; '.join(opinion.said) or 'without an error line'}", path)
    elif opinion.missing:
        yield finding("second-opinion", f"ibdmchk misses {opinion.missing} paths of {opinion.scanned}", path)
    elif opinion.loops is None:
        yield finding("second-opinion", "ibdmchk came to no word about credit loops", path)
    elif opinion.loops:
        yield finding("second-opinion", "ibdmchk finds credit loops in the routing", path)
