#!/bin/bash
# Starts finetune by Open MPI 5: run it once, on any host that reaches all of the hostfile beside it. Written by iacgen from the blueprint.
#
# The rank file puts each rank on its host and its cores. Open MPI only starts the ranks: they talk by NCCL.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "${MPIRUN:-mpirun}" --hostfile "$here/hostfile" --map-by "rankfile:file=$here/rankfile" -np 256 bash "$here/launch.sh" "$@"
