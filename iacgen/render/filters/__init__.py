"""One quoting filter a reader. Each proves by a round trip that its reader sees the value it was given."""

from .csv import csv, csv_text
from .hcl import hcl, hcl_part
from .html import html
from .json import json
from .line import comment, dotenv, ini, nccl, slurm, variable
from .markdown import cell
from .shell import sh
from .values import AnsibleExpression, Quoted, UnrepresentableValue
from .xml import xml
from .yaml import ansible_yaml, unsafe, yaml

__all__ = ["AnsibleExpression", "Quoted", "UnrepresentableValue", "ansible_yaml", "cell", "comment", "csv", "csv_text", "dotenv", "hcl", "hcl_part", "html", "ini", "json", "nccl", "sh", "slurm", "unsafe", "variable", "xml", "yaml"]
