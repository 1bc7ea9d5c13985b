# shellcheck shell=sh
# NCCL on gpu[0001-0016]: source this file. Written by iacgen from the blueprint.

# A failed job says why. INFO writes too much beyond 1,000 ranks.
export NCCL_DEBUG=WARN

# Bootstrap over the instance's own interface, whose name depends on its image.
export NCCL_SOCKET_IFNAME='^docker,lo,veth'
