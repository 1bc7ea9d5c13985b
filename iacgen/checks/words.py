"""The words of a blueprint, and what among them looks secret."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import log2
from typing import Any

from .rule import Path

_KINDS = {
    "an access key of AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{36})",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20}",
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{30}",
    "a token of Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10}",
    "a key of Google": r"\bAIza[A-Za-z0-9_-]{35}",
    "a key of OpenAI or Anthropic": r"\bsk-(?:(?:ant|proj|svcacct)-[A-Za-z0-9_-]{20}|[A-Za-z0-9]{32})",
    "a token of NVIDIA's NGC": r"\bnvapi-[A-Za-z0-9_-]{20}",
    "a token of PyPI": r"\bpypi-AgE[A-Za-z0-9_-]{20}",
    "a web token (JWT)": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "a password": r"(?i:\bpass(?:word|wd|phrase)\b)\s*(?:is|[:=])\s+(?=\S*[0-9!@#$%^&*])\S{4}",
    "a user name and password in an address": r"[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@",
}
_SECRETS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
_RUN = re.compile(r"[A-Za-z0-9+_]{28,}")
_ENTROPY = 4.0  # bits a character; random base64 of 32 characters has about 4.6, but so have long names in camel case
_CHANGES = 0.4  # share of neighbours that differ in kind: 0.6 in random base64, 0.3 in camel case


def words(section: Any, path: Path = ()) -> Iterator[tuple[str, Path, bool]]:
    """Every text of a section with its path, names of maps included; the last says that the name is meant."""
    if isinstance(section, str):
        yield section, path, False
    elif isinstance(section, dict):
        for name, inner in section.items():
            yield name, (*path, name), True
            yield from words(inner, (*path, name))
    elif isinstance(section, tuple):
        for i, inner in enumerate(section):
            yield from words(inner, (*path, i))
    elif hasattr(section, "model_fields_set"):
        for name, inner in section:
            yield from words(inner, (*path, name))


def secret_kind(text: str) -> str | None:
    """What kind of secret ``text`` holds, by the shape that its issuer gives it; None for none that is known."""
    return next((kind for kind, pattern in _SECRETS.items() if pattern.search(text)), None)


def looks_random(text: str) -> bool:
    """Whether some part of ``text`` mixes letters of both cases and digits as only a generator does."""
    return any(len(set(map(_kind, run))) == 3 and _changes(run) >= _CHANGES and _entropy(run) > _ENTROPY for run in _RUN.findall(text))


def _kind(character: str) -> str:
    return "digit" if character.isdecimal() else "upper" if character.isupper() else "lower"


def _changes(run: str) -> float:
    """Share of neighbours that are of different kinds."""
    return sum(_kind(a) != _kind(b) for a, b in pairwise(run)) / (len(run) - 1)


def _entropy(run: str) -> float:
    """Shannon entropy, bits a character."""
    return -sum(n / len(run) * log2(n / len(run)) for n in Counter(run).values())
