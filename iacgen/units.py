"""Quantities with units: parse what a person writes, print what a person reads.

A quantity is a number and a unit without or with one space between them: ``160GB/s``, ``10PB``, ``42kW``, ``400Gb/s``,
``60s``. ``B`` is bytes and ``b`` is bits; ``k M G T P E`` are powers of 1000 and ``Ki Mi Gi Ti Pi Ei`` powers of 1024, as in
IEC 80000-13. The case of the unit matters, since ``GB`` and ``Gb`` differ by a factor of eight.
"""

from __future__ import annotations

import re
from decimal import Decimal

_SI = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_SECONDS = {"ms": Decimal("0.001"), "s": 1, "min": 60, "h": 3600, "d": 86400}

_UNITS: dict[str, dict[str, Decimal | int]] = {
    "bytes": {f"{p}B": f for p, f in (_SI | _IEC).items()},
    "bytes_per_s": {f"{p}B/s": f for p, f in (_SI | _IEC).items()},
    "bits_per_s": {f"{p}b/s": f for p, f in _SI.items()},
    "watts": {f"{p}W": f for p, f in _SI.items() if p in ("", "k", "M", "G")},
    "seconds": dict(_SECONDS),
}
_EXAMPLES = {"bytes": "10PB or 48TiB", "bytes_per_s": "160GB/s", "bits_per_s": "400Gb/s", "watts": "42kW", "seconds": "60s or 5min"}
LARGEST = 10**24  # a float and a Decimal both hold what is below well enough
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z/]+)", re.ASCII)


def parse(text: object, dimension: str) -> float:
    """The value of ``text`` in the base unit of ``dimension`` (bytes, bytes_per_s, bits_per_s, watts or seconds).

    Raises ValueError, with an example of the right form, on a bare number, an unknown unit or a wrong case.
    """
    units, example = _UNITS[dimension], _EXAMPLES[dimension]
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= 40 else None
    if match is None:
        raise ValueError(f"write a number and its unit, such as {example}")
    number, unit = match.groups()
    if unit not in units:
        same = [u for u in units if u.lower() == unit.lower()]
        hint = f"did you mean {' or '.join(same)}?" if same else f"such as {example}"
        raise ValueError(f"unknown unit {unit!r}: {hint}")
    value = Decimal(number) * units[unit]
    if value > LARGEST:
        raise ValueError(f"{text} is more than anything on earth")
    return int(value) if value == value.to_integral_value() else float(value)


def pattern(dimension: str) -> str:
    """An ECMA 262 pattern, for JSON Schema, of every text that ``parse`` takes; it knows the units and lets too large a number pass."""
    units = "|".join(re.escape(unit) for unit in sorted(_UNITS[dimension]))
    return rf"^(?=[0-9.]*[1-9])[0-9]+(\.[0-9]+)? ?({units})$"


def example(dimension: str) -> str:
    """A quantity or two as one writes them."""
    return _EXAMPLES[dimension]


def _scaled(value: float, unit: str, step: int = 1000, names: str = " kMGTPE") -> str:
    index = 0
    while abs(value) >= step and index < len(names) - 1:
        value, index = value / step, index + 1
    prefix = names[index].strip() + ("i" if step == 1024 and index else "")
    return f"{value:.4g} {prefix}{unit}"


def gb_per_s(bytes_per_s: float) -> str:
    """Bytes per second as a person reads them: ``200 GB/s``."""
    return _scaled(bytes_per_s, "B/s")


def bytes_si(count: float) -> str:
    """Bytes in powers of 1000: ``5.682 TB``."""
    return _scaled(count, "B")


GIB = 2**30


def gib(count: float) -> str:
    """Bytes as GiB with one decimal: ``67.9 GiB``."""
    return f"{count / GIB:.1f} GiB"


def seconds(value: float) -> str:
    """Seconds with a fitting unit: ``1.42 s``, ``310 ms``, ``2.5 min``."""
    if value < 1:
        return f"{value * 1000:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.3g} min" if value < 7200 else f"{value / 3600:.3g} h"


def kilowatts(watts: float) -> str:
    """Watts as kW: ``1,295.4 kW``."""
    return f"{watts / 1000:,.1f} kW"


def write(value: float, dimension: str) -> str:
    """The shortest text that ``parse`` reads back as exactly ``value``: ``10PB``, ``60s``."""
    if dimension == "seconds":
        return f"{Decimal(repr(value)).normalize():f}s"
    units = [(u, f) for u, f in _UNITS[dimension].items() if value and not Decimal(repr(value)) % f]
    unit, factor = max(units, key=lambda pair: (pair[1], -len(pair[0])), default=(next(iter(_UNITS[dimension])), 1))
    number = Decimal(repr(value)) / factor
    return f"{int(number) if number == number.to_integral_value() else number}{unit}"
