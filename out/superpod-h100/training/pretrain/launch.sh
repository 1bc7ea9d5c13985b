#!/bin/bash
# One rank of pretrain. srun starts it once for each rank, in the order of slurm/pretrain.ranks. Written by iacgen from the blueprint.
#
# Python and Megatron-LM are the node's own: activate an environment by PATH before sbatch, or set PYTHON.
set -euo pipefail

die() { printf '%s: %s\n' pretrain "$*" >&2; exit 1; }

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
    [[ -n ${MASTER_ADDR:-} ]] || die "MASTER_ADDR is not set: start the job with slurm/pretrain.sbatch"
    ((SLURM_NTASKS == 1008)) || die "$SLURM_NTASKS ranks, but the job was planned for 1008"
    export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=8
    export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}"
}

[[ -n ${SLURM_PROCID:-} ]] || die "no rank: srun runs this script, from slurm/pretrain.sbatch"
rank_from_slurm
source_nccl
set -a
# shellcheck source=/dev/null
. "$here/megatron.env"
set +a

# One argument a line, as it is; no shell expands it. What stands behind this script's name is added.
mapfile -t arguments <"$here/megatron.args"
exec "${PYTHON:-python3}" /opt/train/pretrain.py "${arguments[@]}" "$@"
