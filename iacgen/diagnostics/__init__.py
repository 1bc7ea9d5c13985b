"""One finding and its printers."""

from .model import Diagnostic, Related, Severity, errors

__all__ = ["Diagnostic", "Related", "Severity", "errors"]
