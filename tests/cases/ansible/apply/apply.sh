#!/usr/bin/env bash
# apply.sh CLUSTER SITE RESULTS PLAYBOOK ROUNDS HOST...: run a playbook on overlays of this machine's root, one overlay a host.
# In namespaces of its own: no network but loopback, every process ends with this script, every file lies in its memory.
# RESULTS gets 1.txt and so on (what Ansible said in each round), listening.txt, left.txt (processes inside an overlay) and HOST/ (what changed).
set -euo pipefail
cluster=$(realpath "$1") site=$2 results=$(realpath "$3") playbook=$4 rounds=$5 here=$(dirname "$(realpath "$0")")
shift 5
if [ -z "${IN_NAMESPACES:-}" ]; then
    IN_NAMESPACES=1 exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" "$cluster" "$site" "$results" "$playbook" "$rounds" "$@"
fi

mount -t tmpfs work /mnt
cp -r "$cluster" /mnt/cluster
export HOME=/mnt/home ANSIBLE_HOME=/mnt/home/ansible ANSIBLE_CONNECTION_PLUGINS=$here/connection ANSIBLE_NOCOLOR=1 SYSTEMD_OFFLINE=1
mkdir -p "$HOME"

inventory=/mnt/rehearsal.yml
printf 'all:\n  hosts:\n' >"$inventory"
for host in "$@"; do
    root=/mnt/$host/root
    mkdir -p "/mnt/$host/"{upper,work,root}
    mount -t overlay overlay -o "lowerdir=/,upperdir=/mnt/$host/upper,workdir=/mnt/$host/work" "$root"
    mknod -m 666 "$root/dev/null" c 1 3 2>/dev/null || true       # /dev is a mount of its own, and so is empty in an overlay
    mknod -m 666 "$root/dev/urandom" c 1 9 2>/dev/null || true
    mkdir -p "$root/tmp" "$root/etc/systemd/system" "$root/etc/chrony"
    # Units of packages that this machine has not installed.
    for unit in chrony opensm; do
        [ -e "/lib/systemd/system/$unit.service" ] || printf '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n' >"$root/lib/systemd/system/$unit.service"
    done
    # Lists of packages that count as fresh: there is no network to fetch others.
    mkdir -p "$root/var/lib/apt/periodic" && touch "$root/var/lib/apt/periodic/update-success-stamp" "$root/var/lib/apt/lists"
    printf '    %s: {ansible_host: "%s"}\n' "$host" "$root" >>"$inventory"
done
{ printf '  vars:\n'; sed 's/^/    /' "$here/vars.yml"; } >>"$inventory"

cd "/mnt/cluster/ansible/$site"
for round in $(seq "$rounds"); do
    "$IACGEN_ANSIBLE_BIN/ansible-playbook" -i inventory/hosts.yml -i "$inventory" "$playbook" -e "@$here/format-cases.json" --limit "$(IFS=,; echo "$*")" >"$results/$round.txt" 2>&1 || echo "exit $?" >>"$results/$round.txt"
done
ss -H -ltn >"$results/listening.txt"
for process in /proc/[0-9]*; do
    case $(readlink "$process/root" || true) in /mnt/*) echo "$process" ;; esac
done >"$results/left.txt"
for host in "$@"; do
    mkdir -p "$results/$host"
    for folder in etc usr/local/sbin; do
        [ ! -d "/mnt/$host/upper/$folder" ] || (cd "/mnt/$host/upper" && cp -a --parents "$folder" "$results/$host/")
    done
done
