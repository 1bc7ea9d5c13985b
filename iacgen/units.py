"""Quantities with units: parse what a person writes, print what a person reads.

A quantity is a number and a unit without or with one space between them: ``160GB/s``, ``10PB``, ``42kW``, ``400Gb/s``,
``60s``. ``B`` is bytes and ``b`` is bits; ``k M G T P E`` are powers of 1000 and ``Ki Mi Gi Ti Pi Ei`` powers of 1024, as in
IEC 80000-13. The case of the unit matters, since ``GB`` and ``Gb`` differ by a factor of eight.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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
# Other words for units, in lower case; none of them is read, since some are short for two things.
_LONG = {"kilo": "k", "mega": "m", "giga": "g", "tera": "t", "peta": "p", "exa": "e", "bytes?": "b", "watts?": "w", "(?:ps|/sec|/second|persecond)$": "/s", "^(?:secs?|seconds?)$": "s", "^(?:mins?|minutes?)$": "min", "^(?:hrs?|hours?)$": "h", "^days?$": "d", "^(?:msecs?|milliseconds?)$": "ms"}
LARGEST = 10**24  # a float and a Decimal both hold what is below well enough
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z/]+)", re.ASCII)


def parse(text: object, dimension: str) -> float:
    """The value of ``text`` in the base unit of ``dimension`` (bytes, bytes_per_s, bits_per_s, watts or seconds).

    Raises ValueError, with an example of the right form, on a bare number, an unknown unit or a wrong case.
    """
    units, example = _UNITS[dimension], _EXAMPLES[dimension]
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= 40 else None
    if match is None:
        raise ValueError(_malformed(text, example))
    number, unit = match.groups()
    if unit not in units:
        raise ValueError(f"unknown unit {unit!r}: {_meant(number, unit, units) or f'such as {example}'}")
    value = Decimal(number) * units[unit]
    if value > LARGEST:
        raise ValueError(f"{text} is more than anything on earth")
    return int(value) if value == value.to_integral_value() else float(value)


def _malformed(text: object, example: str) -> str:
    """What is wrong with a text that is no number with a unit."""
    words = text.strip() if isinstance(text, str) and len(text) <= 40 else ""
    if re.match(r"-[0-9.]", words):
        return f"a quantity is more than 0, such as {example}"
    if re.fullmatch(r"[0-9]{1,3}([,_][0-9]{3})+ ?[A-Za-z/]+", words):
        return f"write all digits side by side: {re.sub('[,_]', '', words)}"
    if short := re.fullmatch(r"(?:(\.[0-9]+)|([0-9]+)\.) ?([A-Za-z/]+)", words):
        return f"write digits on both sides of the point, or none: {f'0{short[1]}' if short[1] else short[2]}{short[3]}"
    if wide := re.fullmatch(r"([0-9.]+)\s+([A-Za-z/]+)", words):
        return f"write at most one space before the unit: {wide[1]} {wide[2]}"
    return f"write a number and its unit, such as {example}"


def _meant(number: str, unit: str, units: Mapping[str, Decimal | int]) -> str | None:
    """The unit that a person may have meant by one that is not among ``units``."""
    if "B" in units and unit.endswith("b") and unit[:-1] in _SI:
        return f"it counts bits; {number}{unit} is {_eighth(number)}{unit[:-1]}B"
    bits = re.fullmatch("([kMGTPE]?)b(?:/s|ps|/sec)", unit)
    if "B/s" in units and bits:
        return f"it counts bits; {number}{unit} is {_eighth(number)}{bits[1]}B/s"
    same = [u for u in units if u.lower() == unit.lower()]
    lower = unit.lower()
    for long, short in _LONG.items():
        lower = re.sub(long, short, lower)
    near = same or [u for u in (f"{unit}B", f"{unit}W", f"{unit}/s", unit.removesuffix("/s")) if u in units] or [u for u in units if u.lower() == lower]
    return f"did you mean {' or '.join(near)}?" if near else None


def _eighth(number: str) -> str:
    return f"{(Decimal(number) / 8).normalize():f}"


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
    """Seconds with a fitting unit: ``1.42 s``, ``310 ms``, ``2.5 min``, ``1,200 days``; never a power of ten."""
    if value < 1:
        return f"{value * 1000:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    if value < 7200:
        return f"{value / 60:.3g} min"
    return f"{value / 3600:.3g} h" if value < 999 * 3600 else f"{value / 86400:,.0f} days"


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
