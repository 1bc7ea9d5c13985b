"""Let Accelerate read its configuration and work out what its launcher would tell a rank. Runs in the interpreter that has accelerate;
stands alone.

    python accelerate_probe.py FILES

FILES is a JSON list of [path, value of ACCELERATE_GRADIENT_ACCUMULATION_STEPS or null]. Prints one line: the word PROBE and a JSON list
with, for each, ``refused`` (Accelerate's complaint, or null), ``values`` (what its own class holds), ``environment`` (variables that its
launcher adds, without dynamo's), ``torchrun`` (nnodes, nproc_per_node, rdzv_endpoint, rdzv_backend), ``accumulation`` (passes before a
step, as an Accelerator has them). Nothing is started.
"""

import json
import os
import sys
from unittest import mock

import accelerate.utils.launch as launch
from accelerate import Accelerator
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.state import AcceleratorState, GradientState

OURS = ("ACCELERATE_", "FSDP_", "PARALLELISM_CONFIG_")


def passes(value):
    """What an Accelerator makes of the variable, alone in its environment and on the processor."""
    AcceleratorState._reset_state(True)
    GradientState._reset_state()
    with mock.patch.dict(os.environ, {} if value is None else {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS": value}):
        return Accelerator(cpu=True).gradient_accumulation_steps


def read(path, accumulation):
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    try:
        values = load_config_from_file(path).to_dict()
        args = launch_command_parser().parse_args(["--config_file", path, "train.py"])
        args, _, _ = _validate_launch_command(args)
        steps = passes(accumulation)
        with mock.patch.object(launch, "is_port_in_use", lambda port: False):
            environment = launch.prepare_multi_gpu_env(args)
    except (Exception, SystemExit) as refusal:  # whatever Accelerate raises is its refusal
        return {"refused": f"{type(refusal).__name__}: {refusal}"}
    told = {name: value for name, value in environment.items() if name.startswith(OURS) and not name.startswith("ACCELERATE_DYNAMO_")}
    return {"refused": None, "values": values, "environment": told, "torchrun": {key: getattr(args, key, None) for key in ("nnodes", "nproc_per_node", "rdzv_endpoint", "rdzv_backend")}, "accumulation": steps}


if __name__ == "__main__":
    print("PROBE", json.dumps([read(*question) for question in json.loads(sys.argv[1])], default=str), flush=True)
