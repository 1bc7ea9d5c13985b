#!/bin/bash
# Starts finetune. Written by iacgen from the blueprint.
#
# Under Slurm srun runs this once for each rank, in the order of slurm/finetune.ranks.
# Without Slurm run it once, on gpu0032: DeepSpeed then runs it for each rank, in the order of the hostfile beside it.
# So do torchrun.sh and mpirun.sh.
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

# The names of srun and of mpirun for a rank become torch's, which torchrun and DeepSpeed's launcher set themselves. All of them
# count in the order of the placement, and rank 0 waits at MASTER_ADDR.
rank_from_slurm() {
    [[ -n ${MASTER_ADDR:-} ]] || die "MASTER_ADDR is not set: start the job with slurm/finetune.sbatch"
    ((SLURM_NTASKS == 256)) || die "$SLURM_NTASKS ranks, but the job was planned for 256"
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
    [[ -z ${RANK:-} ]] || ((WORLD_SIZE == 256)) || die "$WORLD_SIZE ranks, but the job was planned for 256"
}

# srun hands the whole environment on to every host, ssh and pdsh nothing of it. These names go along: where programs and libraries
# are, and what these read; HAND_ON='NAME NAME' adds to them. Passwords and tokens stay: a command line would show them.
handed_on() {
    local name
    for name in $(compgen -e); do
        case " ${HAND_ON:-} " in *" $name "*) printf '%s\n' "$name"; continue ;; esac
        case $name in
            *TOKEN* | *SECRET* | *PASSWORD* | *_KEY) ;;
            PATH | LD_LIBRARY_PATH | LD_PRELOAD | VIRTUAL_ENV | CONDA_PREFIX | PYTHON* | MASTER_PORT | CUDA_HOME | CUDA_DEVICE_MAX_CONNECTIONS) printf '%s\n' "$name" ;;
            NCCL_* | FI_* | UCX_* | GLOO_* | TORCH* | PYTORCH_* | TRITON_* | NVTE_* | OMP_* | HF_* | TRANSFORMERS_*) printf '%s\n' "$name" ;;
        esac
    done
}

find_rank
if [[ -z ${RANK:-} ]]; then
    # To DeepSpeed a missing hostfile means this host alone, and a missing .deepspeed_env means none.
    for file in hostfile .deepspeed_env; do [[ -r $here/$file ]] || die "no $here/$file"; done
    # It goes to the folder it was started in on every node, and quotes no path.
    [[ $here =~ ^[[:alnum:]/._+-]+$ ]] || die "DeepSpeed's launcher cannot hand on the path $here"
    cd "$here"
    PYTHON=${PYTHON:-$(command -v python3)}
    export PYTHON
    # DeepSpeed writes what stands in this file in front of the command of each host, the last value of a name. It is open, so it may go.
    file=$(mktemp)
    for name in $(handed_on); do
        [[ ${!name} != *[\"\`\$\\]* && ${!name} != *$'\n'* ]] || die "DeepSpeed's launcher cannot hand on $name"
        printf '%s=%s\n' "$name" "${!name}"
    done >"$file"
    cat .deepspeed_env >>"$file"
    exec 9<"$file"
    rm "$file"
    DS_ENV_FILE=/dev/fd/9 exec deepspeed --hostfile "$here/hostfile" --launcher pdsh --no_python --no_local_rank \
        --master_addr gpu0032 --master_port "${MASTER_PORT:-29500}" "$here/launch.sh" "$@"
fi

source_nccl
set -a
# shellcheck source=/dev/null
. "$here/job.env"
# shellcheck source=/dev/null
. "$here/data.env"
set +a
exec "${PYTHON:-python3}" /opt/train/pretrain.py --deepspeed --deepspeed_config "$here/ds_config.json" "$@"
