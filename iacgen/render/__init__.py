"""From words to text: the templates, the quoting filters, hostlists."""

from .filters import AnsibleExpression, Quoted, UnrepresentableValue, csv_text
from .hostlist import InvalidHostlist, expand, fold
from .templates import render, static_tree

__all__ = ["AnsibleExpression", "InvalidHostlist", "Quoted", "UnrepresentableValue", "csv_text", "expand", "fold", "render", "static_tree"]
