#!/bin/bash
# Starts the ranks of this node of pretrain by torchrun: run it once on each host of the hostfile beside it. Written by iacgen from the blueprint.
#
# The rendezvous is the static one, and the number of a node is its line in the hostfile. That of c10d deals numbers out as nodes
# arrive: ranks would not sit where the placement puts them. To start again after a failure start it again on all nodes.
# srun hands the environment on to each host, ssh and pdsh nothing of it: in their command PATH, LD_LIBRARY_PATH, PYTHON, MASTER_PORT
# and what else the script reads stand in front of `bash torchrun.sh`, the same ones for each host.
set -euo pipefail

die() { printf '%s: %s\n' pretrain "$*" >&2; exit 1; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
host=$(uname -n)
node_rank=$(awk -v host="${host%%.*}" '$1 == host {print NR - 1}' "$here/hostfile")
[[ $node_rank =~ ^[0-9]+$ ]] || die "$host does not stand once in $here/hostfile"
exec "${TORCHRUN:-torchrun}" --nnodes=126 --nproc-per-node=8 --node-rank="$node_rank" --rdzv-backend=static \
    --master-addr=gpu0032 --master-port="${MASTER_PORT:-29500}" --max-restarts=0 --no-python bash "$here/launch.sh" "$@"
