"""Instance ids → the names of hosts, so that what a cloud says fits the hosts of a blueprint."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..design.fabric.hierarchy import Hierarchy
from ..diagnostics import Diagnostic, errors
from .fields import Fields
from .found import short
from .text import Unreadable, decode, values

_COLUMNS = re.compile(r"\s*[,;\t]\s*|:?\s+")
_HEADS = {("id", "name"), ("instance", "host"), ("instance", "name"), ("instanceid", "name"), ("instanceid", "host"), ("instance_id", "name"), ("instance_id", "host"), ("guid", "host")}


def names(raw: bytes, file: str = "names") -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    """(id → host, findings): of ``aws ec2 describe-instances``, or of lines with an id and a name between comma, tab, blank or colon.

    Of an instance the tag Name is taken where no other instance has it, else the first label of its private name in the DNS. Several
    ids may have one host, as the adapters of a host have by their GUIDs. With an error the mapping is empty.
    """
    try:
        text = decode(raw, file)
        fields = Fields(file)
        if text.lstrip()[:1] in ("{", "["):
            out = _instances(values(text, file), fields)
            return {} if errors(fields.findings) else out, tuple(fields.findings)
        return _lines(text, file)
    except Unreadable as stop:
        return {}, (stop.finding,)


def renamed(hierarchy: Hierarchy, names: Mapping[str, str]) -> Hierarchy:
    """The same with the hosts by their names; one without a name, or whose name another has, keeps what it is called."""
    wanted = [names.get(host, host) for host in hierarchy.hosts]
    times = Counter([*wanted, *(host for host, name in zip(hierarchy.hosts, wanted, strict=True) if host != name)])
    return replace(hierarchy, hosts=tuple(name if times[name] == 1 else host for host, name in zip(hierarchy.hosts, wanted, strict=True)))


def _instances(pages: list[Any], fields: Fields) -> dict[str, str]:
    """Instances of describe-instances, by id."""
    fields.unfinished(pages, "NextToken")
    tagged: dict[str, str] = {}
    private: dict[str, str] = {}
    for where, item in _each(pages, fields):
        id = fields.text(item, "InstanceId", where)
        if id is None:
            fields.wrong(where, "InstanceId is wanted")
            continue
        for place, tag in fields.each(fields.list(item, "Tags", where), f"{where}.Tags"):
            if tag.get("Key") == "Name" and (name := fields.text(tag, "Value", place)):
                tagged[id] = name
        if dns := fields.text(item, "PrivateDnsName", where):
            private[id] = dns.partition(".")[0]
    times = Counter(tagged.values())
    return private | {id: name for id, name in tagged.items() if times[name] == 1}


def _each(pages: list[Any], fields: Fields) -> Iterator[tuple[str, dict[str, Any]]]:
    found = False
    for _, page in fields.each(pages, "pages"):
        for where, reservation in fields.each(fields.list(page, "Reservations", "answer"), "Reservations"):
            found = True
            yield from fields.each(fields.list(reservation, "Instances", where), f"{where}.Instances")
    if not found:
        fields.wrong("answer", "Reservations of describe-instances are wanted")


def _lines(text: str, file: str) -> tuple[dict[str, str], tuple[Diagnostic, ...]]:
    out: dict[str, str] = {}
    fields = Fields(file)
    for number, line in enumerate(text.splitlines(), 1):
        words = [word.strip("\"'") for word in _COLUMNS.split(line.partition("#")[0].strip()) if word]
        if not words or (not out and tuple(word.lower() for word in words[:2]) in _HEADS):
            continue
        if len(words) != 2:
            fields.complain("topology-out-of-form", "an id and a name are wanted in a line, and no more", number)
        elif out.setdefault(words[0], words[1]) != words[1]:
            fields.complain("host-in-two-places", f"{short(words[0])} is called {short(out[words[0]])} and {short(words[1])}", number)
    return ({}, tuple(fields.findings)) if fields.findings else (out, ())
