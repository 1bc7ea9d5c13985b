"""DeepSpeed: the configuration of a job, its hostfile in placement order, and the script that starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iacgen.render import render as render_template
from iacgen.render.order import hostfile
from iacgen.training.parameters import largest_tensor, stage_layers

if TYPE_CHECKING:
    from iacgen.design.model import Design
    from iacgen.placement.project import Project
    from iacgen.training import Job, JobSpec

_PDSH_NODES = 1024
"""DeepSpeed's own launcher fans out to so many hosts at most (PDSH_MAX_FAN_OUT of its launcher/constants.py)."""

_NEWEST = (0, 19, 8)
_MESH_SINCE = (0, 15, 0)
"""deepspeed/__init__.py makes a mesh of data_parallel_size and sequence_parallel_size; 0.14.5 does not."""
_TENSOR_GROUPS_SINCE = (0, 16, 4)
"""runtime/tensor_parallel/config.py reads autotp_size; 0.16.3 has no such section."""
_SWAP_BUFFER = 100_000_000
"""Elements; DeepSpeed's own buffer_size of offload_param (runtime/zero/offload_config.py)."""

_STAGES = (
    "Layers of the model on each stage, as memory was counted: partition_method type:NAME of PipelineModule, where NAME is their class; "
    "its default, parameters, gives the stage of a large embedding fewer"
)
# Measured with DeepSpeed 0.19.8 on four ranks: with the mesh of the configuration alone the weights of two such GPUs drift apart.
_SEQUENCE_GROUPS = (
    "GPUs that share a sequence. Give deepspeed.initialize an mpu of this size (deepspeed.runtime.sequence_parallel.parallel_state_sp): "
    "by its configuration alone DeepSpeed does not add up their gradients"
)


def render(project: Project) -> dict[str, str]:
    """``training/<job>/`` for each DeepSpeed job: ``ds_config.json``, ``hostfile``, ``job.env`` and ``launch.sh``."""
    tree = {}
    for name, job in project.jobs.items():
        if job.spec.framework != "deepspeed":
            continue
        placement = project.placements[name]
        pool = project.design.pool_of(placement.hosts[0])
        folder = f"training/{name}"
        tree[f"{folder}/ds_config.json"] = render_template("training/ds_config.json.j2", config=config(job, version(project.design.software.deepspeed)))
        tree[f"{folder}/hostfile"] = hostfile(placement.hosts, placement.gpus_per_node)
        tree[f"{folder}/job.env"] = render_template("training/job.env.j2", variables=words(job, project.design))
        tree[f"{folder}/launch.sh"] = render_template(
            "training/deepspeed.sh.j2",
            job=name,
            pool=pool.name,
            world=job.world,
            ranks_per_node=placement.gpus_per_node,
            script=job.spec.entrypoint,
            arguments=job.spec.arguments,
            first_host=placement.hosts[0],
            within_pdsh=len(placement.hosts) <= _PDSH_NODES,
        )
    return tree


def version(text: str) -> tuple[int, ...]:
    """A release as numbers."""
    return tuple(int(part) for part in text.split("."))


def config(job: Job, release: tuple[int, ...] = _NEWEST) -> dict[str, object]:
    """DeepSpeed's configuration, in the keys that this release reads. All three batch numbers are written, so that DeepSpeed checks their product.

    ``train_batch_size`` is micro batch * accumulation * data-parallel size; the last is the number of copies of the model, not of GPUs.
    A ``sequence_parallel_size`` alone does nothing: DeepSpeed makes its groups when ``data_parallel_size`` stands beside it. Releases
    that know no mesh, or no tensor groups of their own, leave both to the script, which is told the sizes.
    """
    spec = job.spec
    out: dict[str, object] = {
        "train_batch_size": spec.global_batch,
        "train_micro_batch_size_per_gpu": spec.micro_batch,
        "gradient_accumulation_steps": job.micro_batches,
        "gradient_clipping": 1.0,
        "bf16": {"enabled": True},
        "communication_data_type": spec.gradients,
        "data_types": {"grad_accum_dtype": spec.gradients},
        "zero_optimization": _zero(job),
    }
    if spec.recompute != "none":
        out["activation_checkpointing"] = {"partition_activations": False, "contiguous_memory_optimization": False, "cpu_checkpointing": False}
    if spec.tensor > 1 and spec.pipeline == 1 and release >= _TENSOR_GROUPS_SINCE:  # below a pipeline the script's topology has the tensor groups
        out["tensor_parallel"] = {"autotp_size": spec.tensor}
    if spec.context > 1 and release >= _MESH_SINCE:
        out |= {"data_parallel_size": spec.data_parallel, "sequence_parallel_size": spec.context}
    if spec.pipeline > 1 and spec.recompute == "full":
        out["pipeline"] = {"activation_checkpoint_interval": 1}
    out["steps_per_print"] = 10
    return out


def _zero(job: Job) -> dict[str, object]:
    """The ZeRO section, with the bucket sizes that the memory table counted. The pipeline engine sends nothing while it computes."""
    stage, sizes = job.spec.zero, job.buckets
    if stage == 0:
        return {"stage": 0}
    out: dict[str, object] = {"stage": stage, "contiguous_gradients": True, "overlap_comm": job.spec.pipeline == 1, "reduce_bucket_size": sizes.reduce}
    out |= _offload(job.spec)
    if stage < 3:
        return out | {"reduce_scatter": True, "allgather_partitions": True, "allgather_bucket_size": sizes.gather}
    if job.spec.secondary_group:
        out["zero_hpz_partition_size"] = job.spec.secondary_group
    return out | {
        "stage3_prefetch_bucket_size": sizes.gather,
        "stage3_param_persistence_threshold": sizes.persistent,
        "stage3_max_live_parameters": sizes.live,
        "stage3_max_reuse_distance": sizes.live,
        "stage3_gather_16bit_weights_on_model_save": False,
    }


def _offload(spec: JobSpec) -> dict[str, object]:
    """What leaves the GPU. A weight's part must fit a buffer of the swapper, so a larger one is asked for where the default is too small."""
    out: dict[str, object] = {}
    if spec.offload_optimizer != "none":
        out["offload_optimizer"] = {"device": spec.offload_optimizer, "pin_memory": True}
    if spec.offload_weights != "none":
        out["offload_param"] = {"device": spec.offload_weights, "pin_memory": True}
    for section in out.values():
        if section["device"] == "nvme":  # type: ignore[index]
            section["nvme_path"] = spec.offload_path  # type: ignore[index]
    part = -(-largest_tensor(spec, 0) // spec.data_parallel)
    if spec.offload_weights == "nvme" and part > _SWAP_BUFFER:
        out["offload_param"]["buffer_size"] = part  # type: ignore[index]
    return out


def words(job: Job, design: Design) -> tuple[tuple[str, str | int, str], ...]:
    """(name, value, meaning) of what the training script should know, since DeepSpeed has no names for it."""
    spec = job.spec
    mount = getattr(design.storage.get(spec.checkpoint_to or ""), "mount", None)
    found: list[tuple[str, str | int, str]] = [
        ("TRAIN_MODEL", spec.model.id, "The model of the plan"),
        ("TRAIN_SEQUENCE_LENGTH", spec.sequence, "Tokens in a sequence"),
        ("TRAIN_RECOMPUTE", spec.recompute, "Activations to compute again; with less than this the job may not fit its GPUs"),
    ]
    if spec.pipeline > 1:
        found.append(("TRAIN_PIPELINE", spec.pipeline, "Stages of the pipeline: num_stages of PipelineModule, which DeepSpeed reads from no file"))
        found.append(("TRAIN_PIPELINE_LAYERS", ",".join(map(str, stage_layers(spec))), _STAGES))
    if spec.tensor > 1:
        how = "num_mp of PipeModelDataParallelTopology, which PipelineModule takes" if spec.pipeline > 1 else "the script gives deepspeed.initialize an mpu with its groups"
        found.append(("TRAIN_TENSOR", spec.tensor, f"GPUs that share a layer: {how}"))
    if spec.context > 1:
        found.append(("TRAIN_CONTEXT", spec.context, _SEQUENCE_GROUPS))
    if spec.expert > 1:
        found.append(("TRAIN_EXPERT", spec.expert, "GPUs that share the experts of a layer: ep_size of deepspeed.moe.layer.MoE, which DeepSpeed reads from no file"))
    if spec.expert_capacity is not None:
        found.append(("TRAIN_EXPERT_CAPACITY", f"{spec.expert_capacity:g}", "Tokens that an expert takes at most: capacity_factor of deepspeed.moe.layer.MoE"))
    if spec.offload_optimizer != "none":
        found.append(("TRAIN_OPTIMIZER", "DeepSpeedCPUAdam", "The optimizer steps on the CPU, where DeepSpeed takes no other (deepspeed.ops.adam)"))
    if spec.data_path:
        found.append(("TRAIN_DATA", spec.data_path, "Data set"))
    if mount:
        found.append(("TRAIN_CHECKPOINTS", f"{mount}/checkpoints/{job.name}", "Where the state is saved"))
    if job.checkpoints:
        found.append(("TRAIN_SAVE_INTERVAL", job.checkpoints.steps, "Steps between two saves"))
        found.append(("TRAIN_STOP_SIGNAL", "TERM", f"Comes {job.checkpoints.notice_s} s before the time of the job is up: save after the step that runs, and end"))
    return tuple(found)
