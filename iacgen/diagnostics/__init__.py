"""One finding and its printers."""

from .model import Diagnostic, Related, Severity, Span, errors, lines, stopping

__all__ = ["Diagnostic", "Related", "Severity", "Span", "errors", "lines", "stopping"]
