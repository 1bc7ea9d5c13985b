"""Templates and static files: words in, text out.

A template may print numbers and text that a filter has quoted, nothing else: a bare string, a boolean or None stops the
rendering. So no value reaches a file in a form that its reader takes for something else.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jinja2

from iacgen.paths import data_folder

from . import filters
from .filters import Quoted, UnrepresentableValue
from .hostlist import fold

# Ansible's data templates must be able to hold Ansible's own {{ }}.
_ANSIBLE = {"variable_start_string": "<@", "variable_end_string": "@>", "block_start_string": "<%", "block_end_string": "%>", "comment_start_string": "<#", "comment_end_string": "#>"}
_SKIPPED = {"__pycache__", ".DS_Store"}


def render(template: str, **words: object) -> str:
    """The text of ``templates/<template>`` with ``words``.

    Templates below ``ansible/`` write ``<@ @>``, ``<% %>`` and ``<# #>`` where the others write ``{{ }}``, ``{% %}`` and ``{# #}``.
    Raises jinja2.TemplateNotFound, jinja2.UndefinedError for a word that is missing, UnrepresentableValue for a value that was
    not quoted or cannot be.
    """
    return _environment(data_folder("templates"), template.startswith("ansible/")).get_template(template).render(words)


def static_tree(folder: str) -> dict[str, str]:
    """Every file below ``templates/<folder>``, as it is: path relative to that folder → text, in the order of the paths."""
    root = data_folder("templates") / folder
    if not root.is_dir():
        raise FileNotFoundError(f"no folder {folder} among the templates")
    files = (path for path in root.rglob("*") if path.is_file() and not _SKIPPED & set(path.parts))
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in sorted(files, key=lambda p: p.relative_to(root).parts)}


@cache
def _environment(folder: Path, ansible: bool) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        finalize=_printable,
        **(_ANSIBLE if ansible else {}),
    )
    names = ("cell", "comment", "csv", "dotenv", "hcl", "hcl_part", "html", "ini", "json", "nccl", "sh", "slurm", "unsafe", "variable", "xml", "yaml")
    environment.filters |= {name: getattr(filters, name) for name in names} | {"asis": _asis, "join": _join, "hostlist": _hostlist}
    if ansible:
        environment.filters["yaml"] = filters.ansible_yaml
    return environment


def _printable(value: object) -> object:
    """Jinja's last step before the text: lets through what cannot be misread."""
    if isinstance(value, Quoted | jinja2.Undefined) or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise UnrepresentableValue(f"{value!r} has passed no quoting filter: name the reader's filter, or asis for text that a filter has already made")


def _asis(value: object) -> Quoted:
    """Text that is right as it stands: rendered before, or a constant of the program."""
    return Quoted(filters.values.text(value))


def _join(values: Iterable[object], separator: str = "") -> Quoted:
    """Jinja's ``join`` for values that are quoted already."""
    return Quoted(str(separator).join(str(_printable(value)) for value in values))


def _hostlist(names: Iterable[str]) -> Quoted:
    """Host names folded the way Slurm folds them, sorted."""
    return filters.slurm(fold(names))
