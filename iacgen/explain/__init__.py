"""Why each finding is made, with a bad and a good example: one page an id.

The page of a check is the docstring of its module; the other pages are the Markdown files in ``pages/``. Both have one shape, which
``page`` reads. Sources are parsed, never imported, so that explaining costs nothing.
"""

from .page import Page
from .shelf import find, kinds, nearest, pages

__all__ = ["Page", "find", "kinds", "nearest", "pages"]
