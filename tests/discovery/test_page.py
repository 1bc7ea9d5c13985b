"""The page on discovery names every source, and no other."""

import re
from pathlib import Path

from iacgen.discovery import KINDS
from iacgen.explain import find

PAGE = (Path(__file__).parents[2] / "docs/discovery.md").read_text(encoding="utf-8")


def test_every_source_has_its_row():
    assert re.findall(r"^\| `([\w.-]+)` \|", PAGE, flags=re.MULTILINE) == [kind.name for kind in KINDS]


def test_every_finding_that_is_named_is_one():
    assert {find(id).id for id in re.findall(r"IAC\d{3}", PAGE)} >= {"IAC450", "IAC453", "IAC455", "IAC457", "IAC458", "IAC459"}
