"""What looks secret: by the shape that its issuer gives it, as a generator makes it, or by the key that it stands behind."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from math import log2

_PRIVATE = "a private key"
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
    "a web token (JWT)": r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}",
    _PRIVATE: r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "a password": r"(?P<of>(?i:\bpass(?:word|wd|phrase)\b)\s*(?:is|[:=])\s+)(?=\S*[0-9!@#$%^&*])\S{4}",
    "a user name and password in an address": r"(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]*://[^/@\s:]*:[^/@\s]+@",
}
_SECRETS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
# The patterns ask for as much as tells a secret from other words; it ends where its word does, a private key at its last line.
_ENDS = {kind: r"""[^\s'",\]}]*""" for kind in _KINDS} | {_PRIVATE: r"[^\r\n]*"}
_WHOLE = re.compile("|".join(f"(?:{pattern}){_ENDS[kind]}" for kind, pattern in _KINDS.items()))
_RUN = re.compile(r"[A-Za-z0-9+_]{28,}")
_ENTROPY = 4.0  # bits a character; random base64 of 32 characters has about 4.6, but so have long names in camel case
_CHANGES = 0.4  # share of neighbours that differ in kind: 0.6 in random base64, 0.3 in camel case
_SECRET_ENDS = ("password", "passwords", "passwd", "passphrase", "secret", "secrets", "credential", "credentials", "apikey", "accesskey", "privatekey", "secretkey")
_OF_TEXT = {"eos", "bos", "pad", "unk", "sep", "cls", "mask"}  # their tokens are words of a language model


def secret_kind(text: str) -> str | None:
    """What kind of secret ``text`` holds, by the shape that its issuer gives it; None for none that is known."""
    return next((kind for kind, pattern in _SECRETS.items() if pattern.search(text)), None)


def looks_random(text: str) -> bool:
    """Whether some part of ``text`` mixes letters of both cases and digits as only a generator does."""
    return any(map(_random, _RUN.findall(text)))


def holds_secret(key: str) -> bool:
    """Whether a key, or an option of a command, is called after something secret: ``hub_token`` and ``apiKey``, not ``token_file``,
    ``tokens`` or ``eos_token``; the last word counts."""
    before, dash, last = key[-128:].lower().replace("-", "_").replace(".", "_").rpartition("_")
    if last.endswith("token"):
        return (last.removesuffix("token") or before.rpartition("_")[2]) not in _OF_TEXT
    return last.endswith(_SECRET_ENDS) or (last in ("key", "keys") and bool(before.strip("_")))


def spots(text: str) -> list[tuple[int, int]]:
    """First and last index of each word in ``text`` that has the shape of a secret or looks random."""
    return [(m.end("of") if m["of"] else m.start(), m.end()) for m in _WHOLE.finditer(text)] + [m.span() for m in _RUN.finditer(text) if _random(m[0])]


def _random(run: str) -> bool:
    return len(set(map(_kind, run))) == 3 and _changes(run) >= _CHANGES and _entropy(run) > _ENTROPY


def _kind(character: str) -> str:
    return "digit" if character.isdecimal() else "upper" if character.isupper() else "lower"


def _changes(run: str) -> float:
    """Share of neighbours that are of different kinds."""
    return sum(_kind(a) != _kind(b) for a, b in pairwise(run)) / (len(run) - 1)


def _entropy(run: str) -> float:
    """Shannon entropy, bits a character."""
    return -sum(n / len(run) * log2(n / len(run)) for n in Counter(run).values())
