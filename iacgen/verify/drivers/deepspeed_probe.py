"""Let DeepSpeed read a job's files, then say what it read. Runs in the interpreter that has DeepSpeed; stands alone.

    python deepspeed_probe.py JOBS

JOBS is a JSON list of objects with ``config`` and ``hostfile`` (paths), ``world``, ``data_parallel`` and ``context``. Prints one line: the word
PROBE and a JSON list with, for each job, ``refused`` (DeepSpeed's complaint about the configuration, or null), ``values``,
``unread`` (dotted keys that stand in the file and that DeepSpeed never looks at), ``warnings``, ``hosts`` and ``hosts_refused``;
and once ``optimizers`` and ``schedulers``, the names that DeepSpeed knows.

The configuration goes through ``deepspeed.initialize`` up to where the engine would be built. Without a process group DeepSpeed takes
the world for 1 and ignores the topology that it is given, so both are put in its way, and the mesh that it asks for is noted.
"""

import json
import logging
import sys
from unittest import mock

# Before the first import of deepspeed, whose accelerator would look for a GPU.
import os  # isort: skip

os.environ.setdefault("DS_ACCELERATOR", "cpu")

import deepspeed  # noqa: E402
import deepspeed.runtime.config as config_module  # noqa: E402
import hjson  # noqa: E402
import torch  # noqa: E402
from deepspeed.launcher import runner  # noqa: E402
from deepspeed.runtime import lr_schedules  # noqa: E402
from deepspeed.runtime.config_utils import dict_raise_error_on_duplicate_keys  # noqa: E402
from deepspeed.utils import logger  # noqa: E402

# Sections whose unknown keys DeepSpeed passes over; in the others it refuses them.
SILENT = ("activation_checkpointing", "checkpoint", "data_types")


class Topology:
    """Stands in for the launcher's topology: only the number of model copies matters to the configuration."""

    def __init__(self, size):
        self.size = size

    def get_data_parallel_world_size(self):
        return self.size


class Mesh:
    """Stands in for torch's mesh: a group is its size."""

    def __init__(self, shape, names):
        self.shape, self.sizes = list(shape), dict(zip(names, shape, strict=True))

    def get_group(self, mesh_dim):
        return self.sizes[mesh_dim]


class Built(Exception):
    """The engine would be built now, of this configuration and this mesh."""

    def __init__(self, config, mesh):
        super().__init__()
        self.config, self.mesh = config, mesh


def no_engine(*args, config_class, mesh_device, **others):
    """In the place of DeepSpeed's engine, which would want a process group."""
    raise Built(config_class, mesh_device)


class Watched(dict):
    """A mapping that remembers which of its keys were asked for; copies share the memory."""

    def __init__(self, pairs, asked=None):
        super().__init__(pairs)
        self.asked = set() if asked is None else asked

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key):
        self.asked.add(key)
        return super().__contains__(key)

    def __copy__(self):
        return Watched(dict.items(self), self.asked)


class Warnings(logging.Handler):
    """Keeps what DeepSpeed warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        self.said.append(record.getMessage())


def read_config(job):
    """DeepSpeed's reading of one configuration file, as if it ran on the whole job."""
    handler = Warnings()
    logger.addHandler(handler)
    try:
        with open(job["config"]) as file:
            raw = hjson.load(file, object_pairs_hook=dict_raise_error_on_duplicate_keys)
        watched = Watched({key: Watched(value) if key in SILENT and isinstance(value, dict) else value for key, value in raw.items()})
        built = build(watched, job)
    except Exception as refusal:  # whatever DeepSpeed raises is its refusal
        return {"refused": f"{type(refusal).__name__}: {refusal}", "values": {}, "unread": [], "warnings": handler.said}
    finally:
        logger.removeHandler(handler)
    unread = sorted(set(dict.keys(watched)) - watched.asked)
    for section in SILENT:
        inner = dict.get(watched, section)
        if isinstance(inner, Watched):
            unread += sorted(f"{section}.{key}" for key in set(dict.keys(inner)) - inner.asked)
    return {"refused": None, "values": values(built.config, built.mesh), "unread": unread, "warnings": handler.said}


def build(config, job):
    """What deepspeed.initialize would build the engine of. Copies that are cut by tensor or pipeline are the topology's affair."""
    world, size = job["world"], job["data_parallel"]
    with (
        mock.patch.object(config_module.dist, "init_distributed", lambda *a, **k: None),
        mock.patch.object(config_module.dist, "initialize_mesh_device", Mesh),
        mock.patch.object(config_module.dist, "get_rank", lambda *a, **k: 0),
        mock.patch.object(config_module.dist, "get_world_size", lambda group=None: world if group is None else group),
        mock.patch.object(deepspeed, "DeepSpeedEngine", no_engine),
    ):
        try:
            deepspeed.initialize(model=torch.nn.Module(), config=config, mpu=Topology(size) if size * job["context"] != world else None)
        except Built as built:
            return built
    raise RuntimeError("deepspeed.initialize built no engine of its own")


def values(config, mesh):
    """What the plan can be compared with."""
    return {
        "train_batch_size": config.train_batch_size,
        "train_micro_batch_size_per_gpu": config.train_micro_batch_size_per_gpu,
        "gradient_accumulation_steps": config.gradient_accumulation_steps,
        "zero_stage": int(config.zero_optimization_stage),
        "bf16": bool(config.bfloat16_config.enabled),
        "grad_accum_dtype": str(config.grad_accum_dtype),
        "reduce_bucket_size": config.zero_config.reduce_bucket_size,
        "max_live_parameters": config.zero_config.max_live_parameters,
        "autotp_size": config.tensor_parallel_config.autotp_size,
        "mesh": mesh.shape if mesh else None,
        "activation_checkpoint_interval": config.pipeline["activation_checkpoint_interval"],
        "overlap_comm": config.zero_config.overlap_comm,
        "zero_hpz_partition_size": config.zero_config.zero_hpz_partition_size,
        "offload_optimizer": offloaded(config.zero_config.offload_optimizer),
        "offload_param": offloaded(config.zero_config.offload_param),
    }


def offloaded(section):
    """Device and folder of an offload section, None where there is none."""
    return [str(getattr(section.device, "value", section.device)), str(section.nvme_path) if section.nvme_path else None] if section else None


def read_hosts(path):
    """The hostfile as the launcher reads it: hosts in order with their slots, or the complaint."""
    try:
        pool = runner.fetch_hostfile(path)
    except Exception as refusal:
        return None, f"{type(refusal).__name__}: {refusal}"
    return (list(pool.items()), None) if pool is not None else (None, "no hostfile: DeepSpeed would use this host alone")


def main(jobs):
    answers = []
    for job in jobs:
        hosts, refused = read_hosts(job["hostfile"])
        answers.append({**read_config(job), "hosts": hosts, "hosts_refused": refused})
    optimizers = sorted({*config_module.DEEPSPEED_OPTIMIZERS, *(name for name in dir(torch.optim) if name[0].isupper())})
    print("PROBE", json.dumps({"jobs": answers, "optimizers": optimizers, "schedulers": lr_schedules.VALID_LR_SCHEDULES}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
