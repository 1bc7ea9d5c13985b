"""Text → YAML nodes, by the library's parser, with our own bounds and with every alias kept where it is used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import AliasEvent, DocumentStartEvent, MappingStartEvent, SequenceStartEvent
from ruamel.yaml.nodes import Node

from ..diagnostics import lines
from .depth import MAX_DEPTH
from .syntax import fault

MAX_VALUES = 10_000  # the parser takes about 0.1 ms for each; the largest clusters need some hundreds


_DIRECTIVE = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*(%)")


class Refused(Exception):
    """What stops the reading: id, slug and words; line, column and length in characters, line and column from 0; a hint."""

    def __init__(self, id: str, slug: str, words: str, line: int = 0, column: int = 0, length: int = 1, help: str | None = None) -> None:
        super().__init__(words)
        self.id, self.slug, self.words, self.line, self.column, self.length, self.help = id, slug, words, line, column, length, help


@dataclass(frozen=True, eq=False)
class Alias:
    """``*name`` at one place: the node that it stands for, and the marks of the place."""

    node: Node
    start_mark: Any
    end_mark: Any


def compose(text: str, most: int = MAX_VALUES) -> Node | Alias:
    """The root node of the one document in ``text``, which holds at most ``most`` values. Raises Refused."""
    if directive := _DIRECTIVE.match(text):
        line = len(lines(text[: directive.start(1)])) - 1
        raise Refused("IAC002", "yaml-syntax", "a line that begins with % is a directive of YAML; a blueprint needs none", line)
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = type("_Composer", (_Bounded,), {"most": most})
    try:
        nodes = list(yaml.compose_all(text))
    except MarkedYAMLError as error:
        found = fault(error, text)
        raise Refused("IAC002", "yaml-syntax", *found) from None
    except RecursionError:
        raise Refused("IAC013", "nested-too-deeply", f"values are nested more than {MAX_DEPTH} deep") from None
    except Refused:
        raise
    except Exception:  # the library asserts and converts on its way; whatever it stumbles over is no YAML
        raise Refused("IAC002", "yaml-syntax", "this is no YAML that can be read") from None
    if not nodes or nodes[0] is None:
        raise Refused("IAC003", "not-one-document", "there is nothing in this file; a blueprint begins with 'kind: Cluster'")
    return nodes[0]


class _Bounded(Composer):
    """Counts values and levels while they are composed, so that nothing beyond the bounds is ever built."""

    most = MAX_VALUES
    values = 0
    documents = 0

    def compose_document(self) -> Any:
        event = self.parser.peek_event()
        self.documents += 1
        if self.documents > 1 and isinstance(event, DocumentStartEvent):
            raise _refused("IAC003", "not-one-document", "a blueprint is one YAML document; a second one begins here", event.start_mark, 3)
        return super().compose_document()

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        self.values += 1
        if self.values > self.most:
            raise _refused("IAC004", "yaml-bomb", f"more than {self.most:,} values", event.start_mark)
        if isinstance(event, AliasEvent):
            return Alias(super().compose_node(parent, index), event.start_mark, event.end_mark)
        anchor = event.anchor
        if anchor is not None and anchor in self.anchors:
            words = f"the anchor {_short(anchor)} is set a second time here, so that an alias could mean either"
            raise _refused("IAC010", "anchor-twice", words, event.start_mark, len(anchor) + 1)
        if self.depth > MAX_DEPTH or (self.depth == MAX_DEPTH and isinstance(event, MappingStartEvent | SequenceStartEvent)):
            raise _refused("IAC013", "nested-too-deeply", f"values are nested more than {MAX_DEPTH} deep", event.start_mark)
        return super().compose_node(parent, index)

    def compose_scalar_node(self, anchor: Any) -> Any:
        implicit = self.parser.peek_event().implicit
        node = super().compose_scalar_node(anchor)
        if not node.style and not (implicit and implicit[0]):
            node.style = "!"  # a tag says what it is, as quotes would
        return node


def _refused(id: str, slug: str, words: str, mark: Any, length: int = 1) -> Refused:
    return Refused(id, slug, words, mark.line, mark.column, length)


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
