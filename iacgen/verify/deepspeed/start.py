"""How a DeepSpeed job must start: the steps of its launch script, and what its training script is told."""

from __future__ import annotations

import shlex
from typing import Any

from ..launch import data_and_saves, exported, handed_on, to_a_rank
from ..script import Step, steps

_FAN_OUT = 1024
"""Hosts that DeepSpeed's own launcher reaches (PDSH_MAX_FAN_OUT of its launcher/constants.py)."""


def launch(job: Any, placement: Any, design: Any) -> tuple[Step, ...]:
    """Under Slurm srun runs the script for each rank; without Slurm one run hands it to DeepSpeed's launcher, which does."""
    return (
        *to_a_rank(job, placement, design.pool_of(placement.hosts[0]).name),
        *(handed_on() if len(placement.hosts) <= _FAN_OUT else ()),
        *_by_slurm_or_by_itself(placement),
        *exported("job.env", "without job.env the training script does not know the plan"),
        Step(_program(job), "the training script must get the configuration that was judged, and the words of the blueprint"),
    )


def _by_slurm_or_by_itself(placement: Any) -> tuple[Step, ...]:
    alone = 'die "too many hosts"'
    if len(placement.hosts) <= _FAN_OUT:
        alone = f"""
        for file in hostfile .deepspeed_env; do [[ -r $here/$file ]] || die "missing"; done
        [[ $here =~ ^[[:alnum:]/._+-]+$ ]] || die "not handed on"
        cd "$here"
        PYTHON=${{PYTHON:-$(command -v python3)}}
        export PYTHON
        file=$(mktemp)
        for name in $(handed_on); do
        [[ ${{!name}} != *[\\"\\`\\$\\\\]* && ${{!name}} != *$'\\n'* ]] || die "not handed on"
        printf '%s=%s\\n' "$name" "${{!name}}"
        done >"$file"
        cat .deepspeed_env >>"$file"
        exec 9<"$file"
        rm "$file"
        DS_ENV_FILE=/dev/fd/9 exec deepspeed --hostfile "$here/hostfile" --launcher pdsh --no_python --no_local_rank \\
        --master_addr {placement.hosts[0]} --master_port "${{MASTER_PORT:-29500}}" "$here/launch.sh" "$@"
        """
    block = f"""
    find_rank
    if [[ -z ${{RANK:-}} ]]; then
    {alone}
    fi
    """
    return steps(block, f"a rank is Slurm's, or DeepSpeed's own launcher makes it, with rank 0 on {placement.hosts[0]}")


def _program(job: Any) -> str:
    words = [job.spec.entrypoint, "--deepspeed", "--deepspeed_config"]
    more = "".join(f" {shlex.quote(word)}" for word in job.spec.arguments)
    return f"""exec "${{PYTHON:-python3}}" {shlex.join(words)} "$here/ds_config.json"{more} "$@\""""


def words(job: Any, design: Any) -> dict[str, str]:
    """What job.env must say, as a shell reads it: name → one word."""
    spec = job.spec
    out = {"TRAIN_MODEL": spec.model.id, "TRAIN_SEQUENCE_LENGTH": spec.sequence, "TRAIN_RECOMPUTE": spec.recompute}
    if spec.pipeline > 1:
        out["TRAIN_PIPELINE"] = spec.pipeline
        out["TRAIN_PIPELINE_LAYERS"] = ",".join(str(-(-(spec.model.layers - stage) // spec.pipeline)) for stage in range(spec.pipeline))
    if spec.tensor > 1:
        out["TRAIN_TENSOR"] = spec.tensor
    if spec.context > 1:
        out["TRAIN_CONTEXT"] = spec.context
    if spec.expert > 1:
        out["TRAIN_EXPERT"] = spec.expert
    if spec.expert_capacity is not None:
        out["TRAIN_EXPERT_CAPACITY"] = f"{spec.expert_capacity:g}"
    if spec.offload_optimizer != "none":
        out["TRAIN_OPTIMIZER"] = "DeepSpeedCPUAdam"
    out |= data_and_saves(job, design)
    return {name: shlex.quote(str(value)) for name, value in out.items()}
