#!/bin/bash
# Starts pretrain by Open MPI 5: run it once, on any host that reaches all of the hostfile beside it. Written by iacgen from the blueprint.
#
# The rank file puts each rank on its host and its cores. Open MPI only starts the ranks: they talk by NCCL.
# A script of Horovod's (0.28.1, of 2023, is its last release) is started over the same hosts in the same order, without this file:
# horovodrun -np 1008 --hostfile hostfile python3 SCRIPT
set -euo pipefail

die() { printf '%s: %s\n' pretrain "$*" >&2; exit 1; }

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

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# By its full path Open MPI looks for its own programs in the same folder of the other hosts.
mpirun=$(command -v "${MPIRUN:-mpirun}") || die "no mpirun: set PATH or MPIRUN"
handed=()
for name in $(handed_on); do handed+=(-x "$name"); done
exec "$mpirun" --hostfile "$here/hostfile" --map-by "rankfile:file=$here/rankfile" -np 1008 \
    "${handed[@]}" bash "$here/launch.sh" "$@"
