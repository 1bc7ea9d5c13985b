"""FSDP: the configuration of a job for Accelerate and for TorchTitan, and the script that each rank runs.

Accelerate's launcher hands its configuration to the ranks as environment variables; ``job.env`` says the same ones, so that ranks
started by srun, torchrun or mpirun are no different. TorchTitan reads TOML up to release 0.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iacgen.render import render as render_template
from iacgen.training.spec import TITAN_MODELS

if TYPE_CHECKING:
    from iacgen.design.model import Design
    from iacgen.placement.project import Project
    from iacgen.training import Job, JobSpec

_ENGLISH = {True: "true", False: "false"}


@dataclass(frozen=True)
class Mesh:
    """Sizes of PyTorch's device mesh, slowest dimension first: the order of ranks is Megatron's default one."""

    pipeline: int
    replicate: int
    shard: int
    context: int
    tensor: int


def render(project: Project) -> dict[str, str]:
    """``training/<job>/`` for each FSDP job: ``accelerate.yaml`` and ``torchtitan.toml`` where these can run it, ``job.env``, ``launch.sh``."""
    tree = {}
    for name, job in project.jobs.items():
        if job.spec.framework != "fsdp":
            continue
        placement, folder = project.placements[name], f"training/{name}"
        titan = torchtitan(job, project.design)
        if job.spec.on_accelerate:
            tree[f"{folder}/accelerate.yaml"] = render_template("training/accelerate.yaml.j2", job=name, config=accelerate(job, placement.hosts[0]), notes=_accelerate_notes(job))
        if titan:
            tree[f"{folder}/torchtitan.toml"] = render_template("training/torchtitan.toml.j2", job=name, sections=titan, notes=_titan_notes(job.spec))
        tree[f"{folder}/job.env"] = render_template("training/job.env.j2", variables=words(job, project.design))
        tree[f"{folder}/launch.sh"] = render_template(
            "training/fsdp.sh.j2",
            job=name,
            pool=project.design.pool_of(placement.hosts[0]).name,
            world=job.world,
            ranks_per_node=placement.gpus_per_node,
            first_host=placement.hosts[0],
            script=job.spec.entrypoint,
            titan=bool(titan) and job.spec.titan,
            arguments=job.spec.arguments,
        )
    return tree


def mesh(spec: JobSpec) -> Mesh:
    """The device mesh. Shards are cut over the copies and over the parts of a sequence together; a shard group is a part of both."""
    group = spec.shard_group or spec.data_parallel * spec.context
    return Mesh(spec.pipeline, spec.data_parallel * spec.context // group, group // spec.context, spec.context, spec.tensor)


def accelerate(job: Job, first_host: str) -> dict[str, object]:
    """Accelerate's configuration (release 1.15). Its own launcher is told the number of each machine by ``--machine_rank``, and takes its
    rendezvous, the static one by default, from no file."""
    spec, sizes = job.spec, mesh(job.spec)
    out: dict[str, object] = {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": "FSDP",
        "mixed_precision": "bf16",
        "num_machines": spec.nodes,
        "num_processes": job.world,
        "machine_rank": 0,
        "main_process_ip": first_host,
        "main_process_port": 29500,
        "fsdp_config": {
            "fsdp_version": 2,
            "fsdp_reshard_after_forward": spec.zero == 3,
            "fsdp_offload_params": spec.offload_weights == "cpu",
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_state_dict_type": "SHARDED_STATE_DICT",
            "fsdp_cpu_ram_efficient_loading": False,
            "fsdp_activation_checkpointing": spec.recompute == "full",
        },
    }
    if sizes.replicate * sizes.context * sizes.tensor > 1:
        out["parallelism_config"] = {
            "parallelism_config_dp_replicate_size": sizes.replicate,
            "parallelism_config_dp_shard_size": sizes.shard,
            "parallelism_config_tp_size": sizes.tensor,
            "parallelism_config_cp_size": sizes.context,
        }
    return out


def torchtitan(job: Job, design: Design) -> dict[str, dict[str, object]] | None:
    """TorchTitan's sections; None for a model that it does not have. Data set, learning rate and steps are the user's."""
    spec, sizes = job.spec, mesh(job.spec)
    known = TITAN_MODELS.get(spec.model.id)
    if known is None:
        return None
    pipeline = spec.pipeline > 1
    out: dict[str, dict[str, object]] = {
        "job": {"description": f"{job.name}, planned by iacgen"},
        "model": {"name": known[0], "flavor": known[1]},
        "training": {
            "local_batch_size": spec.micro_batch * (job.micro_batches if pipeline else 1),
            "global_batch_size": spec.global_batch,
            "seq_len": spec.sequence,
            "dtype": "float32",
            "mixed_precision_param": "bfloat16",
            "mixed_precision_reduce": "float32",
            "enable_cpu_offload": spec.offload_weights == "cpu",
        },
        "parallelism": {
            "data_parallel_replicate_degree": sizes.replicate,
            "data_parallel_shard_degree": sizes.shard,
            "fsdp_reshard_after_forward": "always" if spec.zero == 3 else "never",
            "tensor_parallel_degree": sizes.tensor,
            "context_parallel_degree": sizes.context,
            "pipeline_parallel_degree": sizes.pipeline,
            "expert_parallel_degree": spec.expert,
        },
        "activation_checkpoint": {"mode": "full" if spec.recompute == "full" else "none"},
    }
    if pipeline:
        out["parallelism"] |= {
            "pipeline_parallel_schedule": "1F1B",
            "pipeline_parallel_microbatch_size": spec.micro_batch,
            "pipeline_parallel_first_stage_less_layers": 0,
            "pipeline_parallel_last_stage_less_layers": 0,
        }
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    if mount and job.checkpoints:
        out["checkpoint"] = {"enable": True, "folder": f"{mount}/checkpoints/{job.name}", "interval": job.checkpoints.steps}
    return out


def _accelerate_notes(job: Job) -> tuple[str, ...]:
    spec = job.spec
    notes = [f"Its launcher reads the passes before a step nowhere but in its environment: ACCELERATE_GRADIENT_ACCUMULATION_STEPS={job.micro_batches}."]
    notes += ["The layers to wrap are those that the model itself names (_no_split_modules), or fsdp_transformer_cls_names_to_wrap says them."]
    if spec.gradients == "fp32":
        notes.append("The plan sums gradients in fp32 and Accelerate's bf16 in bf16: give its plugin a mixed_precision_policy with reduce_dtype torch.float32.")
    return tuple(notes)


def _titan_notes(spec: JobSpec) -> tuple[str, ...]:
    notes = ["For TorchTitan up to 0.2.2; later releases take Python in the place of TOML."]
    if spec.gradients == "bf16":
        notes.append("The plan sums gradients in bf16; TorchTitan knows fp32 alone, which takes twice the room and the bytes.")
    if spec.recompute == "selective":
        notes.append("Selective recomputation frees attention matrices, which the flash kernel never stores: so nothing is repeated.")
    return tuple(notes)


def words(job: Job, design: Design) -> tuple[tuple[str, str | int, str], ...]:
    """(name, value, meaning) of what a rank is told: the plan in words for the script, then Accelerate's variables. An empty meaning is
    that of the line above."""
    spec, sizes = job.spec, mesh(job.spec)
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    found: list[tuple[str, str | int, str]] = [
        ("TRAIN_MODEL", spec.model.id, "The model of the plan"),
        ("TRAIN_SEQUENCE_LENGTH", spec.sequence, "Tokens in a sequence"),
        ("TRAIN_GLOBAL_BATCH", spec.global_batch, "Sequences in a step"),
        ("TRAIN_MICRO_BATCH", spec.micro_batch, "Sequences that one pass takes"),
        ("TRAIN_ACCUMULATION", job.micro_batches, "Passes before a step of the optimizer"),
        ("TRAIN_RECOMPUTE", spec.recompute, "Activations to compute again; with less than this the job may not fit its GPUs"),
        ("TRAIN_GRADIENTS", spec.gradients, "Type that gradients are summed in: reduce_dtype of FSDP's mixed precision"),
        ("TRAIN_MESH", f"{sizes.pipeline},{sizes.replicate},{sizes.shard},{sizes.context},{sizes.tensor}", "The device mesh: pipeline, copies, shards, context, tensor, the last one fastest"),
    ]
    if spec.tensor > 1:
        found.append(("TRAIN_SEQUENCE_PARALLEL", _ENGLISH[spec.sequence_parallel], "Whether norms and residuals are cut along the sequence beside tensor parallelism, as memory was counted"))
    if spec.expert > 1:
        found.append(("TRAIN_EXPERT", spec.expert, "GPUs that share the experts of a layer: expert_parallel_degree of TorchTitan, which has them inside the mesh"))
    if spec.expert_capacity is not None:
        found.append(("TRAIN_EXPERT_CAPACITY", f"{spec.expert_capacity:g}", "Tokens that an expert takes at most, as a multiple of its even share"))
    if spec.data_path:
        found.append(("TRAIN_DATA", spec.data_path, "Data set"))
    if mount:
        found.append(("TRAIN_CHECKPOINTS", f"{mount}/checkpoints/{job.name}", "Where the state is saved"))
    if job.checkpoints:
        found.append(("TRAIN_SAVE_INTERVAL", job.checkpoints.steps, "Steps between two saves"))
        found.append(("TRAIN_STOP_SIGNAL", "TERM", f"Comes {job.checkpoints.notice_s} s before the time of the job is up: save after the step that runs, and end"))
    if spec.on_accelerate:
        found.append(("ACCELERATE_GRADIENT_ACCUMULATION_STEPS", job.micro_batches, "The same passes for Accelerate, which reads them here and in no file"))
        found += [(name, value, "" if i else "What Accelerate's launcher would set, by accelerate.yaml") for i, (name, value) in enumerate(accelerate_environment(spec))]
    return tuple(found)


def accelerate_environment(spec: JobSpec) -> tuple[tuple[str, str], ...]:
    """What Accelerate's launcher would set for each rank (accelerate 1.15, utils/launch.py, prepare_multi_gpu_env)."""
    sizes = mesh(spec)
    out = {
        "ACCELERATE_MIXED_PRECISION": "bf16",
        "ACCELERATE_USE_FSDP": "true",
        "FSDP_VERSION": "2",
        "FSDP_RESHARD_AFTER_FORWARD": _ENGLISH[spec.zero == 3],
        "FSDP_OFFLOAD_PARAMS": _ENGLISH[spec.offload_weights == "cpu"],
        "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
        "FSDP_STATE_DICT_TYPE": "SHARDED_STATE_DICT",
        "FSDP_CPU_RAM_EFFICIENT_LOADING": "false",
        "FSDP_ACTIVATION_CHECKPOINTING": _ENGLISH[spec.recompute == "full"],
    }
    if sizes.replicate * sizes.context * sizes.tensor > 1:
        out |= {
            "ACCELERATE_USE_PARALLELISM_CONFIG": "true",
            "PARALLELISM_CONFIG_DP_REPLICATE_SIZE": str(sizes.replicate),
            "PARALLELISM_CONFIG_DP_SHARD_SIZE": str(sizes.shard),
            "PARALLELISM_CONFIG_TP_SIZE": str(sizes.tensor),
            "PARALLELISM_CONFIG_CP_SIZE": str(sizes.context),
        }
    return tuple(out.items())
