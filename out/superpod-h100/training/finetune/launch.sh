#!/bin/bash
# Starts finetune. Written by iacgen from the blueprint.
#
# Under Slurm srun runs this once for each rank, in the order of slurm/finetune.ranks.
# Without Slurm run it once, on gpu0032: DeepSpeed then runs it for each rank, in the order of the hostfile beside it.
# Python and DeepSpeed are the node's own: activate an environment by PATH, or set PYTHON.
set -euo pipefail

die() { printf '%s: %s\n' finetune "$*" >&2; exit 1; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=${here%/training/*}

# One file for the whole cluster, or one a pool where their hosts differ.
source_nccl() {
    local file
    for file in "$cluster"/nccl/nccl.sh "$cluster"/nccl/gpu/nccl.sh; do
        # shellcheck source=/dev/null
        if [[ -r $file ]]; then . "$file"; return; fi
    done
    die "no nccl.sh below $cluster/nccl"
}

# srun's names for a rank become torch's. The order of ranks is that of the rank file, and rank 0 waits at MASTER_ADDR.
rank_from_slurm() {
    [[ -n ${MASTER_ADDR:-} ]] || die "MASTER_ADDR is not set: start the job with slurm/finetune.sbatch"
    ((SLURM_NTASKS == 256)) || die "$SLURM_NTASKS ranks, but the job was planned for 256"
    export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=8
    export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}"
}

if [[ -n ${SLURM_PROCID:-} ]]; then
    rank_from_slurm
elif [[ -z ${RANK:-} ]]; then
    # To DeepSpeed a missing hostfile means this host alone, and a missing .deepspeed_env means none.
    for file in hostfile .deepspeed_env; do [[ -r $here/$file ]] || die "no $here/$file"; done
    # It goes to the folder it was started in on every node, and quotes no path.
    [[ $here =~ ^[[:alnum:]/._+-]+$ ]] || die "DeepSpeed's launcher cannot hand on the path $here"
    cd "$here"
    PYTHON=${PYTHON:-$(command -v python3)} DS_ENV_FILE=$here/.deepspeed_env \
        exec deepspeed --hostfile "$here/hostfile" --launcher pdsh --no_python --no_local_rank \
        --master_addr gpu0032 --master_port "${MASTER_PORT:-29500}" "$here/launch.sh" "$@"
fi

source_nccl
set -a
# shellcheck source=/dev/null
. "$here/job.env"
set +a
exec "${PYTHON:-python3}" /opt/train/pretrain.py --deepspeed --deepspeed_config "$here/ds_config.json" "$@"
