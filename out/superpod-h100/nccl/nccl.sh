# shellcheck shell=sh
# NCCL on gpu[0001-0127]: source this file. Written by iacgen from the blueprint.

# A failed job says why. INFO writes too much beyond 1,000 ranks.
export NCCL_DEBUG=WARN

# Bootstrap over the network mgmt, by the interface's exact name.
export NCCL_SOCKET_IFNAME==bond0

# PyTorch's CPU collectives over the network mgmt too; the host name may resolve to another.
export GLOO_SOCKET_IFNAME=bond0

# The 8 adapters of the network compute in the order of the GPUs, as name:port:rail; other adapters stay out.
export NCCL_IB_HCA==mlx5_0:1:0,mlx5_3:1:1,mlx5_4:1:2,mlx5_5:1:3,mlx5_6:1:4,mlx5_9:1:5,mlx5_10:1:6,mlx5_11:1:7
