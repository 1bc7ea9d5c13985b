"""Where the ranks of a job sit: its hosts by switch group, each a square in the hue of its pipeline stage over a bar in the shade of its data replica."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .lots import counted
from .picture import Area, Box, Picture, Words, text_width
from .sheet import MARGIN, Sheet, header, legend

FEW = 640  # hosts that have a title and a number each
ACROSS = 8  # hosts side by side in a leaf group
HUES, SHADES = 8, 6
STAGES = 2 * HUES  # colours of stages, full and pale
GAP, PAD, LABEL = 10, 8, 16  # pixels from group to group, from a frame to what is in it, of a line of text
WIDEST = 1640  # pixels, where pods wrap
DOWN, SPARE = "down", "spare"


@dataclass(frozen=True)
class Seat:
    """A host: what a pointer on it is told, its stage and its data replica, from 0; or why it has no rank."""

    host: str
    title: str
    stage: int | None = None
    replica: int | None = None
    why: str = ""


@dataclass(frozen=True)
class Leaf:
    """A leaf group with its hosts."""

    name: str
    seats: tuple[Seat, ...]


@dataclass(frozen=True)
class Pod:
    """Leaf groups under one group of the next tier; no name where there is no such tier."""

    name: str
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True)
class _Cells:
    """Pixels of a host: its width and height, and from host to host; ``bar``: of that height the shade of the replica."""

    w: int
    h: int
    bar: int
    step_x: int
    step_y: int


_LARGE, _SMALL = _Cells(26, 22, 5, 29, 25), _Cells(9, 9, 3, 10, 11)


def draw(title: str, figures: str, pods: Sequence[Pod], stages: int, replicas: int) -> Picture:
    """All pods, row by row. Up to 640 hosts each has a title and the number of its replica; beyond that the hosts of a leaf group and stage share one."""
    hosts = sum(len(leaf.seats) for pod in pods for leaf in pod.leaves)
    cells, sheet = _LARGE if hosts <= FEW else _SMALL, Sheet()
    across = _leaves_across(pods, cells)
    width = max(760.0, 2 * MARGIN + min(WIDEST, _row_width(pods, cells, across)))
    y = header(sheet, title, figures, width - MARGIN)
    areas: list[Area] = []
    x, low = float(MARGIN), y
    for pod in pods:
        wide, high = _size(pod, cells, across)
        if x > MARGIN and x + wide > width - MARGIN:
            x, y = float(MARGIN), low + GAP
        areas += _pod(sheet, pod, cells, across, x, y, stages, replicas)
        low = max(low, y + high)
        x += wide + GAP
    shown = {seat.why for pod in pods for leaf in pod.leaves for seat in leaf.seats}
    low = legend(sheet, _legend(stages, replicas, shown), MARGIN, low + 18, width - MARGIN)
    picture = sheet.picture(width, low + MARGIN, title, figures)
    return Picture(picture.width, picture.height, title, figures, picture.frames, (), picture.boxes, (), picture.words, tuple(areas))


def _leaves_across(pods: Sequence[Pod], cells: _Cells) -> int:
    """Leaf groups side by side in a pod: about as many as below each other; as many as there is room for where there are no pods."""
    most = max((len(pod.leaves) for pod in pods), default=1)
    if all(not pod.name for pod in pods):
        return max(1, int((WIDEST - 2 * MARGIN) // (_leaf_width(cells) + GAP)))
    return max(1, round(most**0.5))


def _leaf_width(cells: _Cells) -> float:
    return ACROSS * cells.step_x + 2 * PAD


def _leaf_height(leaves: Iterable[Leaf], cells: _Cells) -> float:
    rows = max((-(-len(leaf.seats) // ACROSS) for leaf in leaves), default=1)
    return max(rows, 1) * cells.step_y + LABEL + PAD


def _size(pod: Pod, cells: _Cells, across: int) -> tuple[float, float]:
    """Width and height of a pod with its frame."""
    columns, rows = min(across, max(1, len(pod.leaves))), -(-len(pod.leaves) // across)
    frame = 2 * PAD if pod.name else 0
    wide = columns * (_leaf_width(cells) + GAP) - GAP + frame
    return max(wide, text_width(pod.name, 11, strong=True) + frame), rows * (_leaf_height(pod.leaves, cells) + GAP) - GAP + (frame + LABEL if pod.name else 0)


def _row_width(pods: Sequence[Pod], cells: _Cells, across: int) -> float:
    return sum(_size(pod, cells, across)[0] + GAP for pod in pods) - GAP


def _pod(sheet: Sheet, pod: Pod, cells: _Cells, across: int, x: float, y: float, stages: int, replicas: int) -> Iterator[Area]:
    wide, high = _size(pod, cells, across)
    left, top = x, y
    if pod.name:
        held = sum(len(leaf.seats) for leaf in pod.leaves)
        sheet.frames.append(Box(x, y, wide, high, "frame", f"{pod.name}: {counted(held, 'host')} under {counted(len(pod.leaves), 'leaf group')}"))
        sheet.words.append(Words(x + PAD, y + PAD + 8, _cut(pod.name, wide - 2 * PAD, 11), "strong", 11))
        left, top = x + PAD, y + PAD + LABEL
    tall = _leaf_height(pod.leaves, cells)
    for n, leaf in enumerate(pod.leaves):
        at_x, at_y = left + n % across * (_leaf_width(cells) + GAP), top + n // across * (tall + GAP)
        sheet.frames.append(Box(at_x, at_y, _leaf_width(cells), tall, "inner", f"{leaf.name}: {_told(leaf)}"))
        sheet.words.append(Words(at_x + PAD, at_y + 12, _cut(leaf.name, _leaf_width(cells) - 2 * PAD, 9), "quiet", 9, face="mono"))
        yield from _leaf(sheet, leaf, cells, at_x + PAD, at_y + LABEL + 1, stages, replicas)


def _told(leaf: Leaf) -> str:
    idle = sum(seat.stage is None for seat in leaf.seats)
    return f"{counted(len(leaf.seats), 'host')}, {idle:,} without ranks" if idle else f"{counted(len(leaf.seats), 'host')}, all with ranks"


def _leaf(sheet: Sheet, leaf: Leaf, cells: _Cells, x: float, y: float, stages: int, replicas: int) -> Iterator[Area]:
    """The squares and bars of a leaf group, and crosses over hosts that are down."""
    squares: dict[tuple[str, str], list[Seat]] = {}
    at: dict[str, tuple[float, float]] = {}
    for n, seat in enumerate(leaf.seats):
        at[seat.host] = (x + n % ACROSS * cells.step_x, y + n // ACROSS * cells.step_y)
        one = seat.host if cells is _LARGE else str(seat.stage if seat.stage is not None else seat.why)
        squares.setdefault((one, _hue(seat, stages)), []).append(seat)
    for (_, kind), seats in squares.items():
        title = seats[0].title if len(seats) == 1 else f"{leaf.name}: {_together(seats)}"
        parts = tuple((*at[seat.host], cells.w, cells.h - cells.bar * (seat.stage is not None)) for seat in seats)
        yield Area(parts, kind, title)
        if seats[0].why == DOWN:
            yield Area(parts, "cross", title, crossed=True)
        if seats[0].stage is not None and cells is _LARGE:
            on = "on-pale" if "pale" in kind else "on-hue"
            sheet.words += [Words(px + w / 2, py + 12, str((seat.replica or 0) + 1), on, 9, "middle", "mono") for seat, (px, py, w, _) in zip(seats, parts, strict=True)]
    yield from _bars(leaf, cells, at, replicas)


def _bars(leaf: Leaf, cells: _Cells, at: Mapping[str, tuple[float, float]], replicas: int) -> Iterator[Area]:
    """The bars of a leaf group: those of one shade are one shape."""
    shades: dict[str, list[tuple[int, Seat]]] = {}
    for seat in leaf.seats:
        if seat.replica is not None:
            shades.setdefault(_shade(seat.replica, replicas), []).append((seat.replica + 1, seat))
    for shade, some in sorted(shades.items()):
        numbers = sorted({number for number, _ in some})
        title = f"{leaf.name}: {'replica' if len(numbers) == 1 else 'replicas'} {_runs(numbers)}"
        yield Area(tuple((at[seat.host][0], at[seat.host][1] + cells.h - cells.bar, cells.w, cells.bar) for _, seat in some), shade, title)


def _hue(seat: Seat, stages: int) -> str:
    """The kind of a square: a hue for each stage, pale from the ninth on, shared by neighbours where there are more than sixteen; grey without a stage."""
    if seat.stage is None:
        return "idle standby" if seat.why == SPARE else "idle"
    band = seat.stage // -(-stages // STAGES)
    return f"hue{band % HUES + 1}{' pale' if band >= HUES else ''}"


def _shade(replica: int, replicas: int) -> str:
    return f"shade{replica // -(-replicas // SHADES) + 1}"


def _together(seats: Sequence[Seat]) -> str:
    """Hosts that share a title: how many, of which stage and which replicas; or why they have no rank."""
    if seats[0].stage is None:
        return f"{counted(len(seats), 'host')} {seats[0].why}: {_some([seat.host for seat in seats])}"
    return f"{counted(len(seats), 'host')} of stage {seats[0].stage + 1}, replicas {_runs(sorted({(seat.replica or 0) + 1 for seat in seats}))}: {_some([seat.host for seat in seats])}"


def _some(hosts: Sequence[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"{hosts[0]} … {hosts[-1]}"


def _runs(numbers: Sequence[int], most: int = 4) -> str:
    """Numbers in runs: ``1–4, 9`` and how many runs more."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    told = [str(a) if a == b else f"{a}–{b}" for a, b in runs[:most]]
    return ", ".join(told) + (f" and {len(runs) - most} more" if len(runs) > most else "")


def _cut(text: str, width: float, size: float) -> str:
    """No more of a name than there is room for."""
    room = int(width / text_width("x", size, "mono", strong=True))
    return text if len(text) <= room else f"{text[: max(1, room - 1)]}…"


def _legend(stages: int, replicas: int, shown: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What hues, shades and greys stand for."""
    each: dict[str, list[int]]
    for noun, count, kind in (("stage", stages, lambda n: _hue(Seat("", "", n), stages)), ("replica", replicas, lambda n: _shade(n, replicas))):
        each = {}
        for n in range(count):
            each.setdefault(kind(n), []).append(n + 1)
        for name, numbers in each.items():
            yield name, f"{noun} {numbers[0]}" if len(numbers) == 1 else f"{noun}s {numbers[0]:,}–{numbers[-1]:,}"
    reasons = sorted(set(shown) - {"", DOWN, SPARE})
    yield from (("idle standby", "spare"),) if SPARE in shown else ()
    yield from (("idle", ", ".join(reasons)),) if reasons else ()
    yield from (("idle", "crossed out: down"),) if DOWN in shown else ()
