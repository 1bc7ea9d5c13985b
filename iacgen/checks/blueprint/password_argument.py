"""A password that is given as an argument.

Why: arguments stand in the files that are committed, in the job's log, in ``ps`` on every node and in what an experiment tracker
shows.

Bad::

    training:
      pretrain: {arguments: [--wandb-api-key=0123456789abcdef, --db-password, hunter2]}

Good: ``--wandb-api-key-file=/etc/train/wandb``, or a variable of the environment.

Source: huggingface/diffusers#6916, kohya-ss/sd-scripts#1123, mistral-finetune PR#120.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...blueprint import Blueprint
from ...diagnostics.secret import secret_kind
from ..rule import Found, rule

_SECRET = "password|passwd|passphrase|secret|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|credentials?"
_TOKEN = "(?:(?:auth|access|api|hub|hf|github|gitlab|wandb|bearer|session|refresh)[-_])token"  # --eos-token is a matter of text
_NAME = re.compile(rf"--?(?:(?:[a-z0-9]+[-_.])*(?:{_SECRET}|{_TOKEN})|token)$", re.IGNORECASE)
"""The last word of the option counts: --token is one, --token-file and --tokenizer are none."""


@rule("IAC286", "password-argument")
def check(blueprint: Blueprint) -> Iterator[Found]:
    for name, job in blueprint.training.items():
        for i, word in enumerate(job.arguments):
            option, given, value = word.partition("=")
            match = _NAME.match(option)
            following = job.arguments[i + 1] if i + 1 < len(job.arguments) else ""
            if not given and not following.startswith("-"):
                value = following
            if match and value and not secret_kind(value):  # a token of a known shape is a finding of its own
                yield Found(f"{option} takes something secret, and arguments are written into files", ("training", name, "arguments", i))
