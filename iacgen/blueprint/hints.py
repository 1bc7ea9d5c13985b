"""What to write instead of a value that is refused: a text that can be typed in where one is known, else an example of its field."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Sequence
from typing import Any

from .language import Path, example, pattern

_PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)(?:[A-Za-z/<][\w./<>+-]*|[0-9]+(?:\.[0-9]+)?[A-Za-z/]+|[0-9]+(?:\.[0-9]+){2,}(?:/[0-9]+)?)", re.IGNORECASE)
_TRUTH = {"true": "true", "yes": "true", "on": "true", "1": "true", "enabled": "true", "enable": "true", "false": "false", "no": "false", "off": "false", "0": "false", "disabled": "false", "disable": "false"}
# The forms of text that the patterns of the language have no other words for.
_FORMS = {
    r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$": "a letter, then lower-case letters, digits and dashes, at most 32; no dash at the end",
    r"^[a-z]([a-z0-9-]{0,14}[a-z])?$": "lower-case letters, digits and dashes, at most 16; a letter first, and last, since the number of a host follows",
    r"^[^\x00-\x20\x7f-\xa0]([^\x00-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0])?$": "one line of text, without blanks at its ends",
}


def truth(value: object) -> str | None:
    """A hint for a word that is meant as a truth value."""
    meant = _TRUTH.get(str(value).lower())
    return None if meant is None else f"write {meant} without quotes" if value == meant else f"write {meant}"


def whole(value: object) -> str | None:
    """A hint for what is no whole number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return f"write {int(value)}"
    if isinstance(value, list) and len(value) == 1 and type(value[0]) is int:
        return f"write {value[0]}, without brackets"
    text = value.strip() if isinstance(value, str) else ""
    if text.isascii() and text.isdigit():
        return f"write {text[:20]} without quotes"
    if match := re.fullmatch(r"([0-9]{1,15})\s*([A-Za-z]{2,20}|[xCUW%])", text):
        return f"write {match[1]}, the number alone"
    return "write the number with all its digits" if re.fullmatch(r"[0-9.]{1,15}\s*[kKmMgG]", text) else None


def listed(value: object, path: Path) -> str | None:
    """A hint for what is no list."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"write {flow([str(value) if pattern((*path, 0)) else value])}"
    if isinstance(value, str) and re.match(r"-\S", value) and not value.startswith("--"):
        return "an item of a list begins with '- ', a dash and a space"
    if isinstance(value, str):
        return f"write [{_short(', '.join(_words(value)))}]"
    if isinstance(value, dict) and value and all(inner is None or inner is True for inner in value.values()):
        return f"write [{_short(', '.join(map(str, value)))}]"
    return None


def formed(value: object, wanted: str, path: Path, on_key: bool = False) -> str | None:
    """A hint for a text that has not the form ``wanted``: the same in the form, or what the form is."""
    text = value if isinstance(value, str) else ""
    if not text:
        return None if on_key else "nothing stands within these quotes: give it a value, or leave the key out"
    if "\n" in text:
        return _FORMS.get(wanted) or such_as(path, on_key)
    if "\u201c" in text or "\u201d" in text:
        return "\u201c and \u201d are no quotes to YAML; write \" or '"
    if path and isinstance(path[-1], int) and len(parts := _words(text)) > 1 and all(re.match(wanted, p) for p in parts):
        return f"if these are several, put commas between: [{_short(', '.join(parts))}]"
    stripped = text.strip().strip("-_/. ")
    lower = re.sub(r"[\s_]+", "-", stripped.lower())
    rooted = [f"/{stripped}"] if "." not in text else []  # what is relative to a folder lies nobody knows where
    for meant in (text.strip(), stripped, lower, *rooted, lower.replace(".", "-")):
        if meant != text and len(meant) <= 64 and re.match(wanted, meant):
            return f"write {meant}"
    return _FORMS.get(wanted) or such_as(path, on_key)


def worded(text: str, path: Path, choices: Sequence[str] = ()) -> str | None:
    """A hint for a number or truth value where text is wanted: in quotes, where that would do."""
    if choices:
        return f'write "{text}"' if text in choices else f"known: {', '.join(map(flow, choices))}"
    form = pattern(path)
    return f'write "{text}"' if form is None or re.match(form, text) else _FORMS.get(form) or such_as(path)


def kinds_of_value(value: object, path: Path) -> str | None:
    """A hint for a list or a mapping where one value is wanted, and the other way round."""
    if isinstance(value, list):
        inner = value[0] if len(value) == 1 else None
        return f"this is a list: write {flow(inner)}, without brackets" if isinstance(inner, str) and len(inner) <= 60 and _PLAIN.fullmatch(inner) else "this is a list, and one value is wanted"
    if isinstance(value, dict):
        return f"this is a mapping, and one value is wanted{_comma(such_as(path))}"
    return such_as(path)


def network(value: object) -> str | None:
    """A hint for the address of a host where its network is wanted."""
    try:
        meant = ipaddress.IPv4Network(value, strict=False) if isinstance(value, str) and "/" in value else None
    except ValueError:
        return None
    return f"write {meant}" if meant and str(meant) != value and meant.is_private and meant.prefixlen <= 28 else None


def such_as(path: Path, on_key: bool = False) -> str | None:
    """An example of the field at ``path``, or of a name in its place, as it is written."""
    shown = next(iter(example(path[:-1]) or ()), None) if on_key else example(path)
    return None if shown is None or len(text := flow(shown)) > 120 else f"such as {text}"


def flow(value: Any) -> str:
    """Plain data as YAML in one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{flow(k)}: {flow(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]


def _comma(text: str | None) -> str:
    return f", {text}" if text else ""


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
