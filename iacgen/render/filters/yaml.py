"""YAML that a 1.1 reader (Ansible's PyYAML) and a 1.2 reader understand alike.

Strings stand in double quotes with JSON's escapes unless they are plain words that no YAML version takes for something else:
1.1 reads ``NO`` as false and ``1:30`` as 90. Block style throughout, lists indented under their key as ansible-lint wants it.
"""

from __future__ import annotations

import re

from .values import AnsibleExpression, Quoted, UnrepresentableValue, escape, number, text

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*", re.ASCII)
# Words of https://yaml.org/type/bool.html and https://yaml.org/type/null.html, in any case.
_SPECIAL = frozenset("y n yes no on off true false null".split())
_JINJA = re.compile(r"\{[{%#]")
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def yaml(value: object, indent: int = 0, *, jinja: bool = True) -> Quoted:
    """``value`` as a YAML node without a final newline.

    A scalar or an empty collection stands on the line it is put on; each line of a filled list or map is indented by
    ``indent`` spaces, the first one too, so that it follows a line that ends in ``key:``. With ``jinja`` false, text that Ansible
    would evaluate is refused unless it is an ``AnsibleExpression``.
    """
    if isinstance(value, dict | list | tuple) and value:
        return Quoted("\n".join(" " * indent + line for line in _lines(value, jinja)))
    return Quoted(_scalar(value, jinja))


def ansible_yaml(value: object, indent: int = 0) -> Quoted:
    """:func:`yaml` for a file that Ansible reads, which evaluates Jinja in every string."""
    return yaml(value, indent, jinja=False)


def unsafe(value: object) -> Quoted:
    """Text for a file that Ansible reads, which evaluates nothing in it, now or later.

    Only what looks like Jinja gets the tag: ansible-core reads what stands behind ``!unsafe`` as if it had no quotes, and
    ``!unsafe "no"`` would be false (measured with 2.19). Nothing that looks like Jinja looks like a number or a truth value too.
    """
    word = text(value)
    return Quoted(f'{"!unsafe " if _JINJA.search(word) else ""}"{escape(word, _SHORT)}"')


def _lines(value: dict[str, object] | list[object] | tuple[object, ...], jinja: bool) -> list[str]:
    """The block form of a filled map or list, from column 0."""
    out: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            head = _string(key, jinja) + ":"
            if isinstance(item, dict | list | tuple) and item:
                out += [head, *("  " + line for line in _lines(item, jinja))]
            else:
                out.append(f"{head} {_scalar(item, jinja)}")
        return out
    for item in value:
        inner = _lines(item, jinja) if isinstance(item, dict | list | tuple) and item else [_scalar(item, jinja)]
        out += ["- " + inner[0], *("  " + line for line in inner[1:])]
    return out


def _scalar(value: object, jinja: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # 1.1 knows no float without a point: Python's 1e+16 would be a string.
        shown = repr(number(value))
        return shown.replace("e", ".0e") if "e" in shown and "." not in shown else shown
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    return _string(value, jinja)


def _string(value: object, jinja: bool) -> str:
    if not jinja and isinstance(value, str) and not isinstance(value, AnsibleExpression) and _JINJA.search(value):
        raise UnrepresentableValue(f"Ansible would evaluate {value!r}")
    word = text(value)
    if _PLAIN.fullmatch(word) and word.lower() not in _SPECIAL:
        return word
    return f'"{escape(word, _SHORT)}"'
