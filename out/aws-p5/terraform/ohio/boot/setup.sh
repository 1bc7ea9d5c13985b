#!/bin/bash
# Makes a machine of the site usable, or says why not and stops: one that is not as designed must not
# join. Runs as root at the first boot; running it again does no harm.
set -euo pipefail

here=/opt/cluster
# shellcheck source=/dev/null
. "$here/site/site.env"
export AWS_DEFAULT_REGION=$REGION DEBIAN_FRONTEND=noninteractive

die() {
    echo "cluster setup: FATAL: $*" >&2
    exit 1
}

# Minutes that a name may take. Terraform writes the first one when the last machine of the site runs, and it makes a few at a time.
until_named=1440

# patiently MINUTES COMMAND...: once every ten seconds until it works.
patiently() {
    local end=$((SECONDS + $1 * 60))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 10
    done
}

tag() {
    curl -sSf -H "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/tags/instance/$1"
}

resolves() { getent hosts "$1" >/dev/null; }

# The machine's name is its tag: the name in Slurm's files, in hostfiles and in the private zone.
take_name() {
    hostnamectl set-hostname "$name"
    mkdir -p /etc/cloud/cloud.cfg.d /etc/systemd/resolved.conf.d
    printf 'preserve_hostname: true\nmanage_etc_hosts: false\n' >/etc/cloud/cloud.cfg.d/99-cluster.cfg
    # Images map their own name to loopback; other machines, told that address, would call themselves.
    sed -i '/^127\.0\.1\.1[[:space:]]/d' /etc/hosts
    printf '[Resolve]\nDomains=%s\n' "$DOMAIN" >/etc/systemd/resolved.conf.d/cluster.conf
    systemctl try-restart systemd-resolved || true # where the image has it
    patiently "$until_named" resolves "$name.$DOMAIN" || die "$name.$DOMAIN does not resolve"
}

# A node with a rail too few slows every job it takes part in.
check_rails() {
    local found
    found=$(find /sys/class/infiniband -mindepth 1 -maxdepth 1 2>/dev/null | wc -l) || true
    ((found == efa)) || die "$efa EFA interfaces are designed, the kernel shows $found"
}

allow_locked_memory() {
    mkdir -p /etc/systemd/system/slurmd.service.d /etc/security/limits.d
    printf '[Service]\nLimitMEMLOCK=infinity\n' >/etc/systemd/system/slurmd.service.d/cluster.conf
    printf '* - memlock unlimited\n' >/etc/security/limits.d/cluster.conf
    systemctl daemon-reload
}

mount_file_systems() {
    local source target rest
    while read -r source target rest; do
        command -v mount.lustre >/dev/null || die "the image has no Lustre client"
        mkdir -p "$target"
        sed -i "\#^[^ ]* $target lustre #d" /etc/fstab
        echo "$source $target $rest" >>/etc/fstab
        mountpoint -q "$target" || patiently 15 mount "$target" || die "$source does not mount on $target"
        if [[ $role == head ]]; then chmod 1777 "$target"; fi
    done <"$here/site/fstab"
}

install_slurm() {
    if ! command -v "${program[$role]}" >/dev/null || ! command -v munged >/dev/null; then
        # Packages start their daemons at once; ours start when their files are there.
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod 755 /usr/sbin/policy-rc.d
        local failed=0
        { apt-get update && apt-get install -y --no-install-recommends munge slurm-client $daemon; } || failed=1
        rm -f /usr/sbin/policy-rc.d
        ((failed == 0)) || die "munge and Slurm's programs can be had neither from the image nor from its packages"
    fi
    local found
    found=$("${program[$role]}" -V)
    [[ ${found##* } == "$SLURM_VERSION".* ]] || die "the files are written for Slurm $SLURM_VERSION; here is $found"
}

# The first head node makes the munge key once and keeps it as a secret that the machines' roles may read.
fetch_munge_key() {
    aws secretsmanager get-secret-value --secret-id "$MUNGE_SECRET" --query SecretBinary --output text \
        >"$work/key.b64" 2>"$work/error"
}

obtain_munge_key() {
    fetch_munge_key && return
    # Only an empty secret is a reason to make a key: a new one locks every running node out.
    [[ $name == "${HEADS%% *}" ]] && grep -q ResourceNotFoundException "$work/error" || return 1
    head -c 128 /dev/urandom >"$work/key"
    aws secretsmanager put-secret-value --secret-id "$MUNGE_SECRET" --secret-binary "fileb://$work/key" >/dev/null
    fetch_munge_key
}

install_munge_key() {
    patiently 30 obtain_munge_key || die "no munge key: $(cat "$work/error")"
    base64 -d <"$work/key.b64" >"$work/key"
    chown munge:munge "$work/key"
    chmod 400 "$work/key"
    mkdir -p /etc/munge
    mv "$work/key" /etc/munge/munge.key
}

slurm_conf() { sed -n "s/^$1=\([^ #]*\).*/\1/p" "$here/slurm/slurm.conf"; }

# The folders that slurm.conf names for the daemon of this machine. slurmctld runs as SlurmUser and cannot make them.
make_slurm_folders() {
    local key folder
    local -A keys=([head]="StateSaveLocation SlurmctldLogFile" [node]="SlurmdSpoolDir SlurmdLogFile" [login]="")
    for key in ${keys[$role]}; do
        folder=$(slurm_conf "$key")
        if [[ $key == *LogFile ]]; then folder=$(dirname "$folder"); fi
        mkdir -p "$folder"
        # The scripts and environments of all jobs are nobody else's.
        if [[ $key == StateSaveLocation ]]; then chmod 700 "$folder"; fi
        if [[ $role == head ]]; then chown "$(slurm_conf SlurmUser)" "$folder"; fi
    done
}

start_slurm() {
    install_slurm
    local head
    # A head without a name does nothing yet, neither make the key nor answer.
    for head in $HEADS; do patiently "$until_named" resolves "$head.$DOMAIN" || die "$head.$DOMAIN does not resolve"; done
    install_munge_key
    make_slurm_folders
    # Compute nodes keep no copy of Slurm's files: they ask the controller, so that all agree.
    printf 'SLURMD_OPTIONS="--conf-server %s"\n' "${HEADS// /,}" >/etc/default/slurmd
    # shellcheck disable=SC2086  # a login node has no daemon
    systemctl enable munge $daemon
    # shellcheck disable=SC2086  # the controller may boot later than this machine
    patiently 30 systemctl restart munge $daemon || die "${daemon:-munge} does not start"
}

# From now on the machine follows the bucket.
keep_in_step() {
    printf '[Service]\nType=oneshot\nExecStart=/bin/bash %s\n' "$here/boot/sync.sh" >/etc/systemd/system/cluster-sync.service
    printf '[Timer]\nOnBootSec=1min\nOnUnitActiveSec=2min\nRandomizedDelaySec=20s\n\n[Install]\nWantedBy=timers.target\n' \
        >/etc/systemd/system/cluster-sync.timer
    systemctl daemon-reload
    systemctl enable --now cluster-sync.timer
}

token=$(curl -sSf -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' http://169.254.169.254/latest/api/token)
name=$(tag Name)
role=$(tag Role)
efa=$(tag EfaInterfaces)
pool=$(tag Pool) || pool= # a head node is of none
declare -A program=([head]=slurmctld [node]=slurmd [login]=sinfo)
[[ -v program[$role] ]] || die "tag Role says $role"
daemon=${program[$role]/sinfo/}
umask 022
work=$(mktemp -d) # mode 700: the munge key passes through
trap 'rm -rf "$work"' EXIT

take_name
check_rails
allow_locked_memory
mount_file_systems
echo "$role" >/etc/cluster-role
echo "$pool" >/etc/cluster-pool
printf 'export IACGEN_CLUSTER_DIR=%s\n' "$here" >/etc/profile.d/cluster.sh # where job scripts look
bash "$here/boot/sync.sh"
if [[ -n $SLURM_VERSION ]]; then start_slurm; fi

keep_in_step
echo "cluster setup: $name is ready"
