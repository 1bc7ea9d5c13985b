"""``docs/findings.md``: every finding that iacgen can make, with the first sentence of its page."""

from __future__ import annotations

from iacgen.explain import Page, pages

STAGES = {
    "0": "The file: is it YAML that all readers take for the same?",
    "1": "The language: is it a blueprint?",
    "2": "The cluster: do its parts fit each other and the catalog?",
    "3": "The job: do its numbers divide, does it fit the GPUs?",
    "4": "The placement: is there a host for each rank?",
    "5": "The design: does what follows from the blueprint hold together?",
    "6": "What is laid over a blueprint or written beside it",
    "8": "The judges: what the programs that read the files say",
}
HEAD = """\
# Findings

<!-- docs/generate.py writes this page out of the pages of iacgen explain. -->

Each finding has an id that never changes its meaning and a name for the thing found. An error stops the run: nothing is written.
A warning or an info does not. Each is shown at the place in the blueprint that caused it. `iacgen explain ID` says why it is made, with
a bad and a good example; the ids below lead to the same pages.
"""


def page(_: str) -> str:
    """The whole page. Raises KeyError for an id of a stage that has no heading."""
    out = [HEAD]
    for digit in sorted({page.id[3] for page in pages()}):
        out += [f"## {STAGES[digit]}", "", "| id | name | severity | what is found |", "|---|---|---|---|", *(_row(p) for p in pages() if p.id[3] == digit), ""]
    return "\n".join(out)


def _row(page: Page) -> str:
    return page.row(f"../iacgen/{page.file}").replace("| ", f'| <a id="{page.id.lower()}"></a>', 1)
