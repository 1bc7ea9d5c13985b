"""YAML nodes → plain data, with the place of each key and value.

Merge keys (``<<: *name`` or a list of such) and aliases are followed. A key that stands in the mapping itself wins over a merged
one; a key that two merged mappings both give is refused, since readers disagree on which of them wins. A value that came in
through a merge or an alias stands where it was written; ``routes`` remembers the place where it was let in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..diagnostics import Diagnostic, Span, lines
from . import scalars
from .compose import MAX_VALUES, Alias, Refused
from .decode import HIDDEN, says
from .depth import MAX_DEPTH
from .document import Path

MERGE, ALIAS = "<<", "*"  # last step of the path under which the place of a merge or alias is kept
LONGEST_KEY = 128


class Walk:
    """One pass over the composed nodes; an alias is walked at each place where it is used, within a bound."""

    def __init__(self, name: str, text: str, most: int = MAX_VALUES) -> None:
        self.name, self.most = name, most
        self.rows = lines(text)
        if len(self.rows) > 1 and not self.rows[-1]:
            self.rows.pop()  # what follows the last line break is no line
        self.values: dict[Path, Span] = {}
        self.keys: dict[Path, Span] = {}
        self.routes: dict[Path, Path] = {}
        self.findings: list[Diagnostic] = []
        self.seen = 0
        self.through: Any = None

    def within(self, line: int, column: int, end: int) -> Span:
        """A span that lies in the file; ``line``, ``column`` and ``end`` count from 0. The end of the file is its last character."""
        row = min(line, len(self.rows) - 1)
        length = len(self.rows[row])
        first = min(column if row == line else length, max(0, length - 1))
        return Span(row + 1, first + 1, max(first + 1, min(end, length)) + 1, self.name)

    def span(self, node: Node | Alias) -> Span:
        """The first line of a node; a mapping or list in block style is marked by its first character."""
        start, stop = node.start_mark, node.end_mark
        block = isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style
        return self.within(start.line, start.column, start.column + 1 if block or stop.line != start.line else stop.column)

    def error(self, id: str, slug: str, message: str, path: Path, on_key: bool = False, help: str | None = None) -> None:
        self.findings.append(Diagnostic(id, slug, "error", message, path, help=help, on_key=on_key, at=self.keys[path] if on_key else self.values[path]))

    def count(self, node: Node, above: tuple[int, ...]) -> None:
        """Bound what aliases and merges multiply; the outermost of them is to blame."""
        self.seen += 1
        mark = self.through or node.start_mark
        if id(node) in above:
            raise Refused("IAC004", "yaml-bomb", "an alias contains itself", mark.line, mark.column)
        if self.seen > self.most or len(above) > MAX_DEPTH:
            raise Refused("IAC004", "yaml-bomb", f"more than {self.most:,} values, or {MAX_DEPTH} levels, with each alias written out", mark.line, mark.column)

    @contextmanager
    def let_in(self, node: Node | Alias) -> Iterator[None]:
        """Note the place of an alias or a merge while what it brings is built."""
        outer = self.through
        self.through = outer or node.start_mark
        yield
        self.through = outer

    def build(self, node: Node | Alias, path: Path, above: tuple[int, ...]) -> Any:
        if isinstance(node, Alias):
            self.values[*path, ALIAS] = self.span(node)
            self.routes[path] = (*path, ALIAS)
            with self.let_in(node):
                return self.build(node.node, path, above)
        self.count(node, above)
        # What is empty has no place of its own: mark its key.
        self.values[path] = self.keys[path] if node.start_mark.index == node.end_mark.index and path in self.keys else self.span(node)
        inside = (*above, id(node))
        if isinstance(node, ScalarNode):
            return self.scalar(node, path)
        if str(node.tag) not in (f"{scalars.TAG}map", f"{scalars.TAG}seq"):
            return self.complain(scalars.value(str(node.tag), "", False), path)
        if isinstance(node, SequenceNode):
            return [self.build(item, (*path, i), inside) for i, item in enumerate(node.value)]
        return self.mapping(node, path, inside)

    def mapping(self, node: MappingNode, path: Path, inside: tuple[int, ...]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        merges: list[tuple[ScalarNode, Node | Alias]] = []
        for key, value in node.value:
            if _is_merge(key):
                merges.append((key, value))
            elif (name := self.key(key, path, out)) is not None:
                out[name] = self.build(value, (*path, name), inside)
        for i, (key, value) in enumerate(merges):
            here = (*path, MERGE)
            if i:
                self.keys[here] = self.span(key)
                self.error("IAC006", "duplicate-key", "a mapping has one '<<'; it may take a list: <<: [*a, *b]", here, on_key=True)
            else:
                self.keys[here] = self.span(key)
                with self.let_in(value):
                    self.merge(value, path, out, inside)
        return out

    def merge(self, value: Node | Alias, path: Path, out: dict[str, Any], inside: tuple[int, ...]) -> None:
        """Add what ``<<`` brings and the mapping itself does not say."""
        own, brought = set(out), set()
        for source in self.sources(value, path):
            for key, inner in self.pairs(source, path, inside):
                name = str(key.value)
                if name in own:
                    continue
                if name in brought:
                    self.error("IAC016", "merge-conflict", f"two of the merged mappings have {scalars.short(name)!r}", (*path, MERGE), on_key=True, help=f"write {scalars.short(name)} here")
                    continue
                brought.add(name)
                if self.key(key, path, out) is not None:
                    self.routes[*path, name] = (*path, MERGE)
                    out[name] = self.build(inner, (*path, name), inside)

    def sources(self, value: Node | Alias, path: Path) -> Iterator[MappingNode]:
        """The mappings that a merge names."""
        node = value.node if isinstance(value, Alias) else value
        parts = node.value if isinstance(node, SequenceNode) else [node]
        for part in parts:
            inner = part.node if isinstance(part, Alias) else part
            if isinstance(inner, MappingNode):
                yield inner
            else:
                self.error("IAC017", "merge-of-no-mapping", "a merge takes an alias of a mapping, or a list of such", (*path, MERGE), on_key=True, help="<<: *name, or <<: [*one, *other]")
                return

    def pairs(self, node: MappingNode, path: Path, inside: tuple[int, ...]) -> Iterator[tuple[Any, Node | Alias]]:
        """Keys and values of a merged mapping, its own merges included; its own keys win."""
        self.count(node, inside)
        own = set()
        merges = []
        for key, value in node.value:
            if _is_merge(key):
                merges.append(value)
                continue
            own.add(getattr(key, "value", None) if isinstance(key, ScalarNode) else None)
            yield key, value
        for value in merges:
            for source in self.sources(value, path):
                yield from ((k, v) for k, v in self.pairs(source, path, (*inside, id(node))) if getattr(k, "value", None) not in own)

    def key(self, key: Node | Alias, path: Path, out: dict[str, Any]) -> str | None:
        """The name that a key gives, with its place noted; None where it is none."""
        text = key.value if isinstance(key, ScalarNode) else "?"
        here = (*path, scalars.short(text))
        if here in self.keys and here[-1] in out:
            first = self.keys[here]
            again = self.span(key)
            self.findings.append(Diagnostic("IAC006", "duplicate-key", "error", f"{here[-1]!r} stands here a second time (first in line {first.line})", here, on_key=True, at=again))
            return None
        self.keys[here] = self.span(key)
        if not isinstance(key, ScalarNode) or str(key.tag) != f"{scalars.TAG}str":
            complaint = scalars.value(str(key.tag), key.value, not key.style)[1] if isinstance(key, ScalarNode) else None
            if complaint and complaint.id != "IAC008":
                thousands = out and complaint.id == "IAC007" and re.fullmatch("[0-9]{3}", text)
                self.error(*complaint[:3], here, on_key=True, help="a comma ends a value here; write a number with all its digits side by side" if thousands else complaint.help)
            else:
                self.no_text(key, path, here)
            return None
        if len(text) > LONGEST_KEY:
            self.error("IAC005", "bad-key", f"a key has at most {LONGEST_KEY} characters", here, on_key=True)
            return None
        name = self.joined(text, here, True)
        complaint = name and (self.hides(name) or scalars.value(str(key.tag), name, not key.style)[1])
        if complaint:
            self.error(*complaint[:3], here, on_key=True, help=complaint.help)
            return None
        if name is not None and name != here[-1]:
            self.keys[*path, name] = self.keys[here]
        return name

    def no_text(self, key: Node | Alias, path: Path, here: Path) -> None:
        """A key that is no text. One that is a mapping in a mapping is how a template looks: then the whole is no value at all."""
        if isinstance(key, MappingNode) and key.flow_style:
            self.findings.append(Diagnostic("IAC005", "bad-key", "error", "a mapping is the key of a mapping here", path, help="a blueprint has no templates such as {{ name }}; quote the value if it is text", at=self.span(key)))
        else:
            self.error("IAC005", "bad-key", "a key is text; quote it", here, on_key=True)

    def scalar(self, node: ScalarNode, path: Path) -> Any:
        value, complaint = scalars.value(str(node.tag), node.value, not node.style)
        if isinstance(value, str) and complaint is None:
            value = self.joined(value, path, False)
            complaint = self.hides(value) if value else None
        return self.complain((value, complaint), path)

    def complain(self, read: tuple[object, scalars.Complaint | None], path: Path) -> Any:
        value, complaint = read
        if complaint:
            self.error(*complaint[:3], path, help=complaint.help)
            return None
        return value

    def hides(self, text: str) -> scalars.Complaint | None:
        """An escape that stands for a character that does not show."""
        match = HIDDEN.search(text)
        return scalars.Complaint("IAC015", "hidden-character", f"an escape stands for {says(match[0])}", "leave it out") if match else None

    def joined(self, text: str, path: Path, on_key: bool) -> str | None:
        """Text with the surrogate pairs of JSON escapes joined; half a pair is no character."""
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.error("IAC009", "half-a-character", "an escape stands for half a character", path, on_key)
            return None


def _is_merge(key: Node | Alias) -> bool:
    return isinstance(key, ScalarNode) and str(key.tag) == f"{scalars.TAG}merge"
