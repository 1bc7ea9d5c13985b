#!/bin/bash
# Brings the cluster's files of this machine up to date: after a node was added, say, every machine
# needs the new slurm.conf. Started by a timer; running jobs survive a restart of Slurm's daemons.
set -euo pipefail

here=/opt/cluster
# shellcheck source=/dev/null
. "$here/site/site.env"

aws s3 sync --region "$REGION" --only-show-errors --delete "s3://$FILES_BUCKET/" "$here/"

# put SOURCE TARGET: true when the target was not the same before.
put() {
    cmp -s "$1" "$2" && return 1
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2.new"
    chmod 644 "$2.new"
    mv "$2.new" "$2"
}

changed=0
for file in "$here"/slurm/*.conf; do
    [[ -e $file ]] || continue
    if put "$file" "/etc/slurm/${file##*/}"; then changed=1; fi
done
if [[ -e $here/nccl/nccl.conf ]]; then put "$here/nccl/nccl.conf" /etc/nccl.conf || true; fi
find "$here/training" -name '*.sh' -exec chmod 755 {} + 2>/dev/null || true # objects have no mode

if ((changed)); then
    systemctl try-restart slurmctld slurmd
fi
