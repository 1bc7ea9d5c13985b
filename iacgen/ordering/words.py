"""Orders in words, for a terminal of 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from iacgen import units
from iacgen.diagnostics.printable import printable
from iacgen.placement import FamilyCost, Placement
from iacgen.placement.assumptions import sentences
from iacgen.placement.model import FAMILIES
from iacgen.render import InvalidHostlist, fold

from .data import families, ranks_of, spare, utilisation
from .model import Ordering

WIDTH, HEAD = 100, 16
LEAST = 5e-7  # of a cost: what is less is no difference
_NAME = 36  # letters of a switch group's name
_MOVES = 12  # hosts that stand in for others
_HOSTS = 600  # letters of a list of hosts

Rows = Sequence[Sequence[str]]


def text(orderings: Sequence[Ordering]) -> Iterator[str]:
    """Lines about each order, then what all of them assume."""
    for ordering in orderings:
        yield from _ordering(ordering)
        yield ""
    for sentence in sentences(families(orderings), [o.job for o in orderings]):
        yield from textwrap.wrap(sentence, WIDTH, initial_indent="* ", subsequent_indent="  ")


def _ordering(ordering: Ordering) -> Iterator[str]:
    placement = ordering.placement
    yield from textwrap.wrap(_headline(ordering), WIDTH, subsequent_indent="  ")
    yield from _ground(ordering)
    yield from _row("cost", _cost(placement))
    if placement.cost.families:
        yield from _row("bound", _bound(placement))
        if ordering.proof and placement.bound.method != "solver":
            yield from _row("solver", _solver(ordering.proof.bound_s, placement))
        yield from _row("sorted names", _sorted(ordering))
        yield ""
        yield from _table(("", "cost", "slowest flow", "busiest uplink", "in use"), [_family(f) for f in placement.cost.families], right=(1, 4))
        yield ""
        yield from _table(("leaves a", "bytes a step", "sorted names"), list(_bytes(placement)), right=(1, 2))
        yield ""
        yield from _cuts(placement)
        yield ""
    yield from _row("mixed stages", f"{placement.mixed_stages} of {ordering.job.grid.pipeline} on more than one type of GPU") if placement.mixed_stages else ()
    for why, hosts in _idle(placement):
        yield from _hosts("idle", why, hosts)
    if placement.moves and ordering.change is None:
        yield from _row("stands in", ", ".join(f"{move.into} for {move.out}" for move in placement.moves[:_MOVES]) + (" and others" if len(placement.moves) > _MOVES else ""))
    yield from _row("order", f"sha256 {placement.digest}")
    yield from _change(ordering)


def _headline(ordering: Ordering) -> str:
    job, placement, ground = ordering.job, ordering.placement, ordering.ground
    on = f"{ground.name} ({ground.source})" if ground.name else "no fabric"
    spec = job.spec
    cut = f"tensor {spec.tensor}, context {spec.context}, data {job.data_parallel}, pipeline {spec.pipeline}" + (f", expert {spec.expert}" if spec.expert > 1 else "")
    return f"{job.name}: {placement.world:,} ranks on {len(placement.hosts):,} of {ordering.pool.count:,} hosts of {ordering.pool.name}, {on}; {cut}"


def _ground(ordering: Ordering) -> Iterator[str]:
    """What the files of a fabric that was found tell, and what of it and of the pool does not meet."""
    ground = ordering.ground
    if ground.found is None:
        return
    tiers = ", ".join(f"{len(names):,} {tier}" for tier, names in zip(ground.found.tiers, ground.found.groups, strict=True))
    yield from _row("fabric", f"found in {', '.join(map(printable, ground.files))}: {len(ground.found.hosts):,} hosts under {tiers}")
    if ground.open_tiers:
        yield from _row("uplinks", f"of {', '.join(ground.open_tiers)} groups unknown: counted as non-blocking (--oversubscription {ground.open_tiers[0]}=RATIO says more)")
    for hosts, words in ((ordering.missing, f"of {ordering.pool.name} are not in it"), (ground.strangers, "in it are of no pool"), (ground.adrift, "have no place in it")):
        if hosts:
            yield from _hosts("hosts", words, hosts)


def _change(ordering: Ordering) -> Iterator[str]:
    """What hosts that failed change, and what a new order would."""
    change, before = ordering.change, ordering.before
    if change is None or before is None:
        return
    after = change.after
    yield ""
    near = {move.out: (move, tier) for move, tier in zip(after.moves, change.shared, strict=True)}
    for host in change.down:
        if host not in near:
            yield from _row("down", f"{host} had no rank")
            continue
        move, tier = near[host]
        first, last = ranks_of(after, move.node)
        where = "of the same NVLink domain" if tier == "nvlink" else f"of the same {tier} group" if tier else f"of another {after.cost.tiers[-1]} group"
        yield from _row("down", f"{host}: its ranks {first:,} to {last:,} go to {move.into}, {where}, which was {'a spare' if spare(before, move.into) else 'not a spare'}")
    with_it = [f"{move.out} to {move.into}" for move in after.moves if move.out not in change.down]
    if with_it:
        yield from _row("moves too", f"with the rest of its tensor group, as its NVLink domain has no room: {', '.join(with_it[:_MOVES])}" + (" and others" if len(with_it) > _MOVES else ""))
    yield from _row("change", f"{_than(before.cost_s, after.cost_s)}; {len(after.moves) * after.gpus_per_node:,} of {after.world:,} ranks move")
    for tier, old, new in zip(after.cost.tiers, before.cost.bytes_by_tier, after.cost.bytes_by_tier, strict=True):
        yield from _row("", f"bytes that leave {tier} groups: {units.bytes_si(old)} before, {units.bytes_si(new)} after")
    saved = 1 - change.anew.total_s / after.cost_s if after.cost_s else 0.0
    anew = f"{units.seconds(change.anew.total_s)}, {_percent(saved)} less; {change.anew_moved * after.gpus_per_node:,} ranks would move"
    yield from _row("made anew", anew if saved > LEAST else "would cost no less")
    yield from _row("generate", ("writes this order" if change.generated else "makes another order") + f" once these hosts stand in nodes.{ordering.pool.name}.down")


def _than(before: float, after: float) -> str:
    more = after / before - 1 if before else 0.0
    sign = "+" if more > 0 else "-"
    return f"{units.seconds(before)} before, {units.seconds(after)} after ({sign}{_percent(abs(more))})" if abs(more) > LEAST else f"{units.seconds(after)} as before"


def _percent(share: float) -> str:
    """A share in per cent with two digits, and never a power of ten."""
    return f"{100 * share:,.0f} %" if share >= 0.1 else f"{100 * share:.2g} %" if share >= 1e-6 else "under 0.0001 %"


def _cost(placement: Placement) -> str:
    if not placement.cost.families:
        return "nothing leaves a host: any order will do"
    best = "proved: no placement costs less" if placement.proved else f"at most {_percent(placement.ratio - 1)} above the best there can be"
    return f"{units.seconds(placement.cost_s)} a step, {best}; a communication cost, which compares orders, and not the time of a step"


def _bound(placement: Placement) -> str:
    bound = placement.bound
    at = f", at {_short(bound.switch)}" if bound.switch else ""
    how = {"counting": "by counting", "enumerated": "by trying all orders", "solver": "by the exact solver"}[bound.method]
    return f"{units.seconds(bound.seconds)}, {placement.ratio:.4f} times that; {how}: {bound.why}{at}"


def _sorted(ordering: Ordering) -> str:
    placement = ordering.placement
    if placement.by_name:
        return "they are this order"
    if ordering.gain < 1.00005:
        return f"{units.seconds(placement.sorted_cost_s)}, as much"
    return f"{units.seconds(placement.sorted_cost_s)}, {ordering.gain:.4g} times as much"


def _family(family: FamilyCost) -> tuple[str, ...]:
    crossed = "over NVLink" if family.inside else f"crosses {family.slowest_tier} groups" if family.slowest_tier else "inside a leaf group"
    cost = f"{units.seconds(family.seconds)} = {family.exposed:g} x {units.seconds(family.seconds / family.exposed)}"
    busiest = (_short(family.busiest), f"{utilisation(family):.0%}") if family.busiest else ("-", "")
    return (FAMILIES[family.family], cost, f"{units.seconds(family.slowest_s)}, {crossed}", *busiest)


def _bytes(placement: Placement) -> Iterator[tuple[str, ...]]:
    for tier, ours, theirs in zip(placement.cost.tiers, placement.cost.bytes_by_tier, placement.sorted_cost.bytes_by_tier, strict=True):
        yield f"{tier} group", units.bytes_si(ours), units.bytes_si(theirs)


def _solver(bound_s: float, placement: Placement) -> str:
    """What the exact solver says where another bound is the higher."""
    if bound_s < LEAST * placement.cost_s:
        return "found no bound of its own within its limit: the one above stands"
    return f"within its limit it bounds the cost at {units.seconds(bound_s)}, less than the bound above, which stands"


def _cuts(placement: Placement) -> Iterator[str]:
    """How many groups of each family the switch groups cut: a column a tier, or a line a tier where those would not fit."""
    tiers, rows = placement.cost.tiers, list(_groups(placement))
    wide = list(_table(("groups cut by", *(f"{tier} (most)" for tier in tiers), "of", "ring entries"), rows, right=range(1, len(tiers) + 3)))
    if max(map(len, wide)) <= WIDTH:
        yield from wide
        return
    long = [(name if k == 0 else "", tier, cell, *((of, entries) if k == 0 else ("", ""))) for name, *cells, of, entries in rows for k, (tier, cell) in enumerate(zip(tiers, cells, strict=True))]
    yield from _table(("groups cut", "by", "cut (most)", "of", "ring entries"), long, right=range(2, 5))


def _groups(placement: Placement) -> Iterator[tuple[str, ...]]:
    entries = {family.family: family.ring_entries for family in placement.cost.families}
    for span in placement.spans:
        rings = f"{entries.get(span.family, 0):,}" if span.family in ("dp", "cp", "fs") else ""
        yield (FAMILIES[span.family], *(f"{cut:,} ({most:,})" for cut, most in zip(span.cut, span.most, strict=True)), f"{span.groups:,}", rings)


def _idle(placement: Placement) -> list[tuple[str, list[str]]]:
    """Why, and the hosts, in the order of the reasons' first hosts."""
    hosts: dict[str, list[str]] = {}
    for idle in placement.idle:
        hosts.setdefault(idle.why, []).append(idle.host)
    return list(hosts.items())


def _hosts(head: str, words: str, hosts: Sequence[str]) -> list[str]:
    """Hosts as Slurm writes them, broken behind commas."""
    return [line.replace(", ", ",") for line in _row(head, f"{len(hosts):,} {words}: {_folded(hosts)}")]


def _row(head: str, words: str) -> list[str]:
    return textwrap.wrap(words, WIDTH, initial_indent=f"  {head:<{HEAD - 2}}", subsequent_indent=" " * HEAD, break_on_hyphens=False)


def _table(head: Sequence[str], rows: Rows, right: Sequence[int]) -> Iterator[str]:
    """Columns as wide as their widest cell, two blanks apart, those of ``right`` to the right."""
    table = [head, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(head))]
    for row in table:
        yield ("  " + "  ".join(cell.rjust(width) if k in right else cell.ljust(width) for k, (cell, width) in enumerate(zip(row, widths, strict=True)))).rstrip()


def _short(name: str) -> str:
    """A switch group's name, cut where it is long; of two that are joined the second without what both begin with."""
    one, joined, other = name.partition(" to ")
    stem = one.partition("-")[0] + "-"
    name = f"{one} to {other.removeprefix(stem)}" if joined else name
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _folded(hosts: Sequence[str]) -> str:
    """The hosts as Slurm writes them, each range a word of its own; no more than a person reads."""
    try:
        listed = fold(hosts)
    except InvalidHostlist:
        listed = ",".join(map(printable, hosts))
    return (listed if len(listed) <= _HOSTS else f"{listed[:_HOSTS].rpartition(',')[0]} …").replace(",", ", ")
