#!/bin/bash
# Brings the cluster's files of this machine up to date: after a node was added, say, the controller
# needs the new slurm.conf. Started by a timer. Compute nodes get Slurm's files from the controller.
set -euo pipefail

here=/opt/cluster
# shellcheck source=/dev/null
. "$here/site/site.env"
role=$(cat /etc/cluster-role)
pool=$(cat /etc/cluster-pool 2>/dev/null) || pool=

# What jobs that were submitted here have printed stays.
aws s3 sync --region "$REGION" --only-show-errors --delete --exclude '*.out' "s3://$FILES_BUCKET/" "$here/"

# put SOURCE TARGET: true when the target was not the same before.
put() {
    cmp -s "$1" "$2" && return 1
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2.new"
    chmod 644 "$2.new"
    mv "$2.new" "$2"
}

changed=0
if [[ $role != node ]]; then
    for file in "$here"/slurm/*.conf; do
        [[ -e $file ]] || continue
        if put "$file" "/etc/slurm/${file##*/}"; then changed=1; fi
    done
fi
# One file for the whole cluster, or one a pool where their hosts differ.
for file in "$here/nccl/nccl.conf" "$here/nccl/$pool/nccl.conf"; do
    if [[ -e $file ]]; then
        put "$file" /etc/nccl.conf || true
        break
    fi
done
find "$here/slurm" "$here/training" -type f \( -name '*.sh' -o -name '*.sbatch' \) -exec chmod 755 {} + 2>/dev/null || true # objects have no mode

if ((changed)) && [[ $role == head ]] && systemctl is-active --quiet slurmctld; then
    # Before 23.11 only a new start takes in new nodes. Running jobs survive it.
    if [[ $SLURM_VERSION < 23.11 ]]; then systemctl restart slurmctld; fi
    scontrol reconfigure
fi
