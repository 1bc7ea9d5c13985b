"""Let torchrun read its arguments, without starting anything. Runs in the interpreter that has torch; stands alone.

    python torchrun_probe.py COMMANDS

COMMANDS is a JSON list of argument lists. Prints one line: the word PROBE and a JSON list with, for each, ``refused`` (torchrun's
complaint, or null), ``nodes`` (least and most), ``ranks`` (on a node), ``node_rank``, ``endpoint``, ``backend``, ``restarts``,
and the ``command`` of a rank.
"""

import contextlib
import io
import json
import sys

from torch.distributed.run import config_from_args, parse_args


def read(words):
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            config, command, arguments = config_from_args(parse_args(words))
    except (Exception, SystemExit) as refusal:  # whatever ends torchrun is its refusal
        return {"refused": complaint.getvalue().strip()[-300:] or f"{type(refusal).__name__}: {refusal}"}
    return {
        "refused": None,
        "nodes": [config.min_nodes, config.max_nodes],
        "ranks": config.nproc_per_node,
        "node_rank": config.rdzv_configs.get("rank"),
        "endpoint": config.rdzv_endpoint,
        "backend": config.rdzv_backend,
        "restarts": config.max_restarts,
        "command": [command, *arguments] if isinstance(command, str) else None,
    }


if __name__ == "__main__":
    print("PROBE", json.dumps([read(words) for words in json.loads(sys.argv[1])]), flush=True)
