"""``docs/catalog.md``: what the catalog knows, and where each figure is from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from iacgen import catalog

HEAD = """\
# The catalog

<!-- docs/generate.py writes this page out of iacgen/catalog/data/. -->

Facts about things that can be bought or downloaded, one small YAML file each under `iacgen/catalog/data/`. Every figure has a
source with a date; one that nobody publishes is `null` and says why. `iacgen catalog ID` prints all figures of an entry,
`--format json` the same for programs. Rates are dense, sizes say whether they are GB (10^9) or GiB (2^30), and an entry called
generic is a class of machine whose figures are assumptions to replace.
"""

Column = tuple[str, Callable[[Any], object]]


def _nic(purpose: str) -> Callable[[Any], object]:
    return lambda s: f"{s.nics[purpose].count} x {s.nics[purpose].gbps} Gb/s" if purpose in s.nics else None


SHELVES: dict[str, tuple[str, tuple[Column, ...]]] = {
    "gpus": ("GPUs", (("memory, GiB", lambda g: g.memory_gib), ("bf16, TFLOP/s", lambda g: g.bf16_tflops), ("HBM, TB/s", lambda g: g.hbm_tbps), ("NVLink or its like, GB/s", lambda g: g.nvlink_gbytes_per_s), ("W", lambda g: g.tdp_w))),
    "tpus": ("TPUs", (("memory, GiB", lambda t: t.memory_gib), ("bf16, TFLOP/s", lambda t: t.bf16_tflops), ("HBM, TB/s", lambda t: t.hbm_tbps), ("ICI, GB/s", lambda t: t.ici_gbytes_per_s), ("torus", lambda t: f"{t.torus_dimensions} dimensions, {t.pod_chips} chips"))),
    "systems": ("Systems", (("GPUs or TPUs", lambda s: f"{s.gpus or s.tpus} x {s.gpu or s.tpu}" if s.gpus or s.tpus else None), ("CPUs", lambda s: s.cpus), ("memory, GiB", lambda s: s.memory_gib), ("compute ports", _nic("compute")), ("storage ports", _nic("storage")), ("rack units", lambda s: s.rack_units), ("kW", lambda s: s.power_kw))),
    "nics": ("Adapters", (("ports", lambda n: n.ports), ("Gb/s", lambda n: n.port_gbps), ("speaks", lambda n: ", ".join(n.technologies)))),
    "switches": ("Switches", (("ports", lambda s: ", ".join(f"{n} x {g}G" for g, n in sorted(s.ports_by_gbps.items(), reverse=True))), ("speaks", lambda s: ", ".join(s.technologies)), ("rack units", lambda s: s.rack_units), ("kW, most", lambda s: s.power_kw_max))),
    "cables": ("Cables", (("speed, Gb/s", lambda c: c.gbps), ("medium", lambda c: c.medium), ("model", lambda c: c.model), ("transceiver in the switch", lambda c: c.switch_transceiver.model if c.switch_transceiver else None), ("links", lambda c: c.links), ("between", lambda c: ", ".join(c.between)), ("speaks", lambda c: ", ".join(c.technologies)), ("reach, m", lambda c: c.reach_m), ("lengths, m", lambda c: ", ".join(f"{m:g}" for m in c.lengths_m)))),
    "models": ("Models", (("layers", lambda m: m.layers), ("hidden", lambda m: m.hidden), ("heads", lambda m: f"{m.heads}, {m.kv_heads} key-value"), ("vocabulary", lambda m: m.vocabulary), ("longest sequence", lambda m: m.max_sequence), ("parameters", lambda m: m.published_parameters))),
    "clouds": ("Clouds", (("machine types", lambda c: ", ".join(c.machine_types)),)),
}  # fmt: skip


def page(_: str) -> str:
    """The whole page."""
    return HEAD + "\n" + "\n".join(line for kind in catalog.KINDS for line in _shelf(kind))


def _shelf(kind: str) -> Iterator[str]:
    title, columns = SHELVES[kind]
    entries = catalog.entries(kind)
    yield f"## {title}"
    yield ""
    yield _row("id", "name", *(heading for heading, _ in columns))
    yield "|---" * (len(columns) + 2) + "|"
    for entry in entries:
        yield _row(f"`{entry.id}`", entry.name, *(_figure(read(entry)) for _, read in columns))
    yield ""
    yield _row("entry", "figures", "source", "date")
    yield "|---|---|---|---|"
    for entry in entries:
        for source in entry.sources:
            where = source.where + (f" ({source.note})" if source.note else "")
            yield _row(f"`{entry.id}`", ", ".join(source.figures), where, source.date)
        for figure, why in entry.unknown.items():
            yield _row(f"`{entry.id}`", figure, f"unknown: {why}", "")
    yield ""


def _figure(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,g}" if isinstance(value, float) else str(value)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
