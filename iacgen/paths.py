"""Where the data folders lie: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder ``templates`` or ``blueprints``.

    A checkout is asked first: an editable install leaves a second copy in site-packages, which goes stale. ``pyproject.toml``
    tells a checkout from site-packages, where a folder ``templates`` may belong to somebody else.
    """
    checkout = _PACKAGE.parent
    return (checkout if (checkout / "pyproject.toml").is_file() else _PACKAGE) / name
