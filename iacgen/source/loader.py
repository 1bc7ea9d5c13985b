"""Read YAML once: compose the nodes, note every position, build plain data from the same nodes.

A blueprint may come from a stranger, so: the safe tag set only, no anchors that grow, no duplicate keys, bounded size and depth.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..diagnostics import Diagnostic, Span
from .document import Document, Path

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 50_000
_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


def read(text: str, name: str) -> tuple[Document, list[Diagnostic]]:
    """``text`` as a Document, and what is wrong with it as YAML (ids IAC0xx). With an error the data may be missing."""
    if len(text) > MAX_CHARACTERS:
        return Document(name, ""), [_finding("IAC001", "blueprint-too-large", f"more than {MAX_CHARACTERS:,} characters")]
    positions: dict[Path, Span] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ReusedAnchorWarning)
            nodes = list(YAML(typ="safe", pure=True).compose_all(text))
    except ReusedAnchorWarning as warning:
        anchor, line, column = _second(str(warning))
        positions[()] = Span(line, column, column + 1 + len(anchor), name)
        return Document(name, text, None, positions), [_finding("IAC010", "anchor-twice", f"the anchor {anchor} is set a second time here, so that an alias could mean either")]
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        span = Span(mark.line + 1, mark.column + 1, mark.column + 2, name) if mark else Span(1, 1, 2, name)
        positions[()] = span
        words = " ".join(str(error.problem or error.context or "unreadable YAML").split())
        return Document(name, text, None, positions), [_finding("IAC002", "yaml-syntax", words)]
    except (YAMLError, ValueError, RecursionError) as error:
        words = "the YAML is nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        return Document(name, text), [_finding("IAC002", "yaml-syntax", words)]
    if len(nodes) != 1 or nodes[0] is None:
        words = f"a blueprint is one YAML document, this file holds {sum(n is not None for n in nodes)}"
        return Document(name, text), [_finding("IAC003", "not-one-document", words)]
    walk = _Walk(name)
    data = walk.build(nodes[0], (), ())
    return Document(name, text, data, walk.values, walk.keys), walk.findings


def _finding(id: str, slug: str, message: str, path: Path = (), on_key: bool = False) -> Diagnostic:
    return Diagnostic(id, slug, "error", message, path, on_key=on_key)


def _second(warning: str) -> tuple[str, int, int]:
    """Anchor, line and column of the second place; the library tells them in words only."""
    anchor = re.search(r"duplicate anchor '([^']*)'", warning)
    places = re.findall(r"^second occurrence .* line ([0-9]+), column ([0-9]+):$", warning, re.MULTILINE)
    return anchor[1] if anchor else "", int(places[0][0]) if places else 1, int(places[0][1]) if places else 1


class _Walk:
    """One pass over the composed nodes; an alias is walked at each place where it is used, within ``MAX_NODES``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: dict[Path, Span] = {}
        self.keys: dict[Path, Span] = {}
        self.findings: list[Diagnostic] = []
        self.seen = 0
        self.stopped = False

    def build(self, node: Node, path: Path, above: tuple[int, ...]) -> Any:
        self.seen += 1
        self.values.setdefault(path, _span(node, self.name))
        if self.seen > MAX_NODES or len(path) > MAX_DEPTH or id(node) in above:
            if not self.stopped:
                self.stopped = True
                why = "an alias contains itself" if id(node) in above else "too many or too deeply nested values"
                self.error("IAC004", "yaml-bomb", why, path)
            return None
        inside = (*above, id(node))
        if isinstance(node, (MappingNode, SequenceNode)) and node.tag not in _COLLECTIONS:
            return self.unknown_tag(node, path)
        if isinstance(node, MappingNode):
            return self.mapping(node, path, inside)
        if isinstance(node, SequenceNode):
            return [self.build(item, (*path, i), inside) for i, item in enumerate(node.value)]
        return self.scalar(node, path)

    def error(self, id: str, slug: str, message: str, path: Path, on_key: bool = False) -> None:
        self.findings.append(_finding(id, slug, message, path, on_key))

    def mapping(self, node: MappingNode, path: Path, inside: tuple[int, ...]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                what = "merge keys (<<) are not part of the blueprint language" if getattr(key, "value", "") == "<<" else "a key must be text; quote it"
                self.keys[(*path, str(getattr(key, "value", "?")))] = _span(key, self.name)
                self.error("IAC005", "bad-key", what, (*path, str(getattr(key, "value", "?"))), on_key=True)
                continue
            name = self.text(key.value, (*path, "?"))
            if name is None:
                continue
            if name in out:
                first = self.keys[(*path, name)].line
                self.keys[(*path, name)] = _span(key, self.name)
                self.error("IAC006", "duplicate-key", f"{name!r} stands here a second time (first in line {first})", (*path, name), on_key=True)
                continue
            self.keys[(*path, name)] = _span(key, self.name)
            out[name] = self.build(value, (*path, name), inside)
        return out

    def scalar(self, node: ScalarNode, path: Path) -> Any:
        tag, text = node.tag.removeprefix("tag:yaml.org,2002:"), node.value
        if tag == "str":
            return self.text(text, path)
        if tag == "null":
            return None
        if tag == "bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if tag == "int":
            if text.lstrip("-").isdecimal() and text.isascii() and (text.lstrip("-") == "0" or not text.lstrip("-").startswith("0")) and len(text) < 20:
                return int(text)
            self.error("IAC007", "ambiguous-number", f"{text} reads as different numbers in different YAML versions; write plain decimal digits or quote it", path)
            return None
        if tag == "float":
            try:
                value = float(text)
            except ValueError:
                value = float("nan")
            if value == value and abs(value) != float("inf"):
                return value
            self.error("IAC007", "ambiguous-number", f"{text} is not a plain decimal number; write digits or quote it", path)
            return None
        return self.unknown_tag(node, path)

    def unknown_tag(self, node: Node, path: Path) -> None:
        self.error("IAC008", "unknown-tag", f"the tag or type {node.tag!r} is not part of the blueprint language; quote the value if it is text", path)

    def text(self, text: str, path: Path) -> str | None:
        """Text with the surrogate pairs of JSON escapes joined; half a pair is no character."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.error("IAC009", "half-a-character", "an escape stands for half a character", path)
            return None


def _span(node: Node, name: str) -> Span:
    start, stop = node.start_mark, node.end_mark
    end = stop.column + 1 if stop.line == start.line and stop.column > start.column else start.column + 2
    if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style:
        end = start.column + 2
    return Span(start.line + 1, start.column + 1, end, name)
