"""Line-based files without quoting: a value either fits as it is, or not at all."""

from __future__ import annotations

import re

from .values import Quoted, UnrepresentableValue, number, text

_WORD = re.compile(r"[!$-&(-\[\]-~]+")  # visible ASCII without " ' # \
# What neither a shell nor pdsh changes, bare or between double quotes. pdsh itself puts a host's name for %h, as NCCL would.
_HANDED_ON = re.compile(r"([A-Za-z0-9._/:=^,@+-]|%[hp])+")
_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
# NCCL reads nccl.conf with a line buffer of 4096 and cuts a value at 1023 characters (measured on 2.32.3).
_NCCL_VALUE = 1023


def slurm(value: object) -> Quoted:
    r"""A value of slurm.conf and its kin: no blank, quote, ``#`` (a comment) or ``\`` (joins lines)."""
    return _word(value, "a Slurm file")


def ini(value: object) -> Quoted:
    """A value of a key=value file whose reader knows no quoting."""
    return _word(value, "an INI file")


def variable(value: object) -> Quoted:
    """The name of an environment variable, in the capitals that DeepSpeed's and NCCL's readers expect."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise UnrepresentableValue(f"{value!r} is no name of an environment variable")
    return Quoted(value)


def nccl(value: object) -> Quoted:
    """A value of nccl.conf, whose reader trims nothing and keeps quotes and trailing comments in the value."""
    word = _word(value, "nccl.conf")
    if len(word) > _NCCL_VALUE:
        raise UnrepresentableValue(f"nccl.conf cuts a value at {_NCCL_VALUE} characters; this one has {len(word)}")
    return word


def dotenv(value: object) -> Quoted:
    """A value of ``.deepspeed_env`` or of a container's ``--env-file``: the text after the first ``=``, quotes kept.

    DeepSpeed's launcher writes it into a command of the far shell, so nothing passes that a shell would evaluate.
    """
    word = _word(value, "an environment file")
    if not _HANDED_ON.fullmatch(word):
        raise UnrepresentableValue(f"{word!r} cannot stand in .deepspeed_env: a shell would read more than text in it")
    return word


def comment(value: object) -> Quoted:
    """Text behind a comment sign: one line, no control characters."""
    line = text(value)
    if _BREAK.search(line):
        raise UnrepresentableValue(f"{line!r} does not stay behind one comment sign")
    return Quoted(line)


def _word(value: object, file: str) -> Quoted:
    word = str(number(value)) if isinstance(value, int | float) and not isinstance(value, bool) else text(value)
    if not _WORD.fullmatch(word):
        raise UnrepresentableValue(f"{word!r} cannot stand in {file}: it is empty or holds a blank, a quote, #, \\ or a character outside ASCII")
    return Quoted(word)
