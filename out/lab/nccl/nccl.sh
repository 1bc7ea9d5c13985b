# shellcheck shell=sh
# NCCL on gpu[0001-0002]: source this file. Written by iacgen from the blueprint.

# A failed job says why. INFO writes too much beyond 1,000 ranks.
export NCCL_DEBUG=WARN

# Bootstrap over the network mgmt, by the interface's exact name.
export NCCL_SOCKET_IFNAME==eno1

# PyTorch's CPU collectives over the network mgmt too; the host name may resolve to another.
export GLOO_SOCKET_IFNAME=eno1

# The 8 adapters of the network compute in the order of the GPUs, by exact name; other adapters stay out.
export NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7

# DSCP 26 x 4 + 2 (ECT): the lossless class of the network compute, priority 3 on its switches.
export NCCL_IB_TC=106
