#!/bin/bash
# One rank of pretrain. srun starts it once for each rank, in the order of slurm/pretrain.ranks; so do torchrun.sh and mpirun.sh. Written by iacgen from the blueprint.
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

# The names of srun and of mpirun for a rank become torch's, which torchrun and DeepSpeed's launcher set themselves. All of them
# count in the order of the placement, and rank 0 waits at MASTER_ADDR.
rank_from_slurm() {
    [[ -n ${MASTER_ADDR:-} ]] || die "MASTER_ADDR is not set: start the job with slurm/pretrain.sbatch"
    ((SLURM_NTASKS == 1008)) || die "$SLURM_NTASKS ranks, but the job was planned for 1008"
    export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=8
    export MASTER_ADDR MASTER_PORT="${MASTER_PORT:-29500}"
}

rank_from_mpi() {
    export RANK=$OMPI_COMM_WORLD_RANK LOCAL_RANK=$OMPI_COMM_WORLD_LOCAL_RANK WORLD_SIZE=$OMPI_COMM_WORLD_SIZE LOCAL_WORLD_SIZE=8
    export MASTER_ADDR=gpu0032 MASTER_PORT="${MASTER_PORT:-29500}"
}

# mpirun and torchrun may themselves have been started by srun, so that Slurm's names stand beside theirs.
find_rank() {
    if [[ -n ${OMPI_COMM_WORLD_RANK:-} ]]; then
        rank_from_mpi
    elif [[ -n ${SLURM_PROCID:-} && -z ${TORCHELASTIC_RUN_ID:-} ]]; then
        rank_from_slurm
    fi
    [[ -z ${RANK:-} ]] || ((WORLD_SIZE == 1008)) || die "$WORLD_SIZE ranks, but the job was planned for 1008"
}

find_rank
[[ -n ${RANK:-} ]] || die "no rank: slurm/pretrain.sbatch, torchrun.sh or mpirun.sh runs this script"
source_nccl
set -a
# shellcheck source=/dev/null
. "$here/megatron.env"
# shellcheck source=/dev/null
. "$here/data.env"
set +a

# One argument a line, as it is; no shell expands it. What stands behind this script's name is added.
mapfile -t arguments <"$here/megatron.args"
exec "${PYTHON:-python3}" /opt/train/pretrain.py "${arguments[@]}" "$@"
