"""What a machine of the AWS site does at boot: the shipped scripts, run in a folder, with stubs for the programs they call."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from iacgen.paths import data_folder

BOOT = data_folder("templates") / "terraform" / "aws" / "boot"
SITE = "CLUSTER='c'\nDOMAIN='c.internal'\nREGION='us-east-2'\nFILES_BUCKET='files'\nHEADS='head0001'\nSLURM_VERSION='24.11'\nMUNGE_SECRET='c/munge-key'\n"
SLURM_CONF = "SlurmUser=slurm\nStateSaveLocation={root}/var/spool/slurmctld\nSlurmdSpoolDir={root}/var/spool/slurmd\nSlurmctldLogFile={root}/var/log/slurm/slurmctld.log\nSlurmdLogFile={root}/var/log/slurm/slurmd.log\n"

# One program under many names. It writes down how it was called and answers as the test has laid out.
STUB = r"""#!/bin/bash
name=${0##*/}
echo "$name $*" >>"$MACHINE/calls"
case "$name $*" in
    "curl "*api/token) echo token ;;
    "getent "*)
        # The name of a machine comes with the n-th question for it.
        read -r late 2>/dev/null <"$MACHINE/late" || late=0
        (($(grep -c "^getent $*" "$MACHINE/calls") > late)) || exit 2 ;;
    "curl "*tags/instance/*) cat "$MACHINE/tags/${!###*/}" ;;
    "aws s3 sync "*) mkdir -p "${!#}" && cp -r "$MACHINE/bucket/." "${!#}" ;;
    "aws secretsmanager get-secret-value "*)
        if [[ -e $MACHINE/denied ]]; then echo AccessDeniedException >&2; exit 254; fi
        cat "$MACHINE/secret" 2>/dev/null || { echo ResourceNotFoundException >&2; exit 254; } ;;
    "aws secretsmanager put-secret-value "*) base64 "${!##fileb://}" >"$MACHINE/secret" ;;
    "mountpoint "* | "systemctl is-active "*) [[ -e $MACHINE/${name} ]] ;;
    *" -V") echo "slurm-wlm $(cat "$MACHINE/slurm")" ;;
esac
"""
PROGRAMS = "apt-get aws chown curl getent hostnamectl mount mount.lustre mountpoint munged scontrol sinfo sleep slurmctld slurmd systemctl"


@dataclass
class Machine:
    """A machine whose file system lies below ``root``, and the world that it sees."""

    root: Path
    world: Path
    outcome: subprocess.CompletedProcess = field(init=False)

    def run(self, script: str, patience: bool = False) -> Machine:
        # The scripts name the places of a real machine: here they lie below the root. Nothing is waited for, or with ``patience`` in no time.
        text = re.sub(r"(?<![\w./$}])/(etc|opt|sys|usr/sbin)/", rf"{self.root}/\1/", (BOOT / script).read_text())
        wait, instead = ("sleep 10", "SECONDS=$((SECONDS + 10))") if patience else ("$1 * 60", "$1 * 0")
        assert wait in text or script != "setup.sh"
        text = text.replace(wait, instead)
        file = self.root / "run.sh"
        file.write_text(text)
        env = {"PATH": f"{self.world}/bin:{os.environ['PATH']}", "MACHINE": str(self.world)}
        self.outcome = subprocess.run(["bash", file], capture_output=True, text=True, env=env, timeout=60)
        return self

    def tag(self, **tags: str) -> None:
        for key, value in tags.items():
            (self.world / "tags" / key).write_text(value)

    @property
    def calls(self) -> list[str]:
        return (self.world / "calls").read_text().splitlines()

    def read(self, path: str) -> str:
        return (self.root / path).read_text()


@pytest.fixture
def machine(tmp_path):
    root, world = tmp_path / "root", tmp_path / "world"
    for folder in (root / "etc/systemd/system", root / "etc/default", root / "etc/profile.d", root / "usr/sbin", world / "bin", world / "tags"):
        folder.mkdir(parents=True)
    for name in PROGRAMS.split():
        (world / "bin" / name).write_text(STUB)
        (world / "bin" / name).chmod(0o755)
    bucket = {
        "site/site.env": SITE,
        "site/fstab": f"fs-1.fsx.us-east-2.amazonaws.com@tcp:/abc {root}/fsx lustre defaults,noatime 0 0\n",
        "slurm/slurm.conf": SLURM_CONF.format(root=root),
        "slurm/gres.conf": "AutoDetect=off\n",
        "nccl/nccl.conf": "NCCL_DEBUG=WARN\n",
        "training/pretrain/launch.sh": "#!/bin/bash\n",
    }
    for path, text in bucket.items():
        (world / "bucket" / path).parent.mkdir(parents=True, exist_ok=True)
        (world / "bucket" / path).write_text(text)
    (world / "bucket" / "boot").mkdir()
    one = Machine(root, world)
    for script in ("setup.sh", "sync.sh"):
        text = re.sub(r"(?<![\w./$}])/(etc|opt|sys|usr/sbin)/", rf"{root}/\1/", (BOOT / script).read_text())
        (world / "bucket" / "boot" / script).write_text(text)
    shutil.copytree(world / "bucket", root / "opt" / "cluster")
    (root / "etc" / "hosts").write_text("127.0.0.1 localhost\n127.0.1.1 ip-10-0-0-1\n")
    (root / "etc" / "fstab").write_text("UUID=1 / ext4 defaults 0 1\n")
    (root / "etc" / "hostname").write_text("")
    (world / "slurm").write_text("24.11.5")
    (world / "secret").write_text(base64.encodebytes(b"k" * 128).decode())
    for rail in range(32):
        (root / "sys" / "class" / "infiniband" / f"rdmap{rail}").mkdir(parents=True)
    one.tag(Name="gpu0003", Role="node", Pool="gpu", EfaInterfaces="32")
    return one


@pytest.fixture
def head(machine):
    machine.tag(Name="head0001", Role="head", EfaInterfaces="0")
    (machine.world / "tags/Pool").unlink()
    shutil.rmtree(machine.root / "sys" / "class" / "infiniband")
    return machine


def test_a_node_becomes_usable(machine):
    machine.run("setup.sh")
    assert machine.outcome.returncode == 0, machine.outcome.stderr
    assert "hostnamectl set-hostname gpu0003" in machine.calls
    assert machine.read("etc/munge/munge.key") == "k" * 128
    assert (machine.root / "etc/munge/munge.key").stat().st_mode & 0o777 == 0o400
    assert f"mount {machine.root}/fsx" in machine.calls
    assert machine.read("etc/nccl.conf") == "NCCL_DEBUG=WARN\n"
    assert os.access(machine.root / "opt/cluster/training/pretrain/launch.sh", os.X_OK)
    assert machine.read("etc/default/slurmd") == 'SLURMD_OPTIONS="--conf-server head0001"\n'
    assert not (machine.root / "etc/slurm").exists(), "a node asks the controller for Slurm's files"
    assert "systemctl restart munge slurmd" in machine.calls
    assert "systemctl enable --now cluster-sync.timer" in machine.calls


def test_a_node_is_known_by_its_address_and_not_by_loopback(machine):
    machine.run("setup.sh")
    assert machine.read("etc/hosts") == "127.0.0.1 localhost\n"
    assert machine.read("etc/systemd/resolved.conf.d/cluster.conf") == "[Resolve]\nDomains=c.internal\n"


def test_set_up_twice_is_set_up_once(machine):
    machine.run("setup.sh").run("setup.sh")
    assert machine.outcome.returncode == 0, machine.outcome.stderr
    assert machine.read("etc/fstab").count(f"{machine.root}/fsx") == 1


@pytest.mark.parametrize("found", ["22.05.8", "24.05.3", "25.11.1"])
def test_another_slurm_does_not_join(machine, found):
    (machine.world / "slurm").write_text(found)
    machine.run("setup.sh")
    assert machine.outcome.returncode == 1
    assert f"written for Slurm 24.11; here is slurm-wlm {found}" in machine.outcome.stderr
    assert not any("slurmd" in call for call in machine.calls if call.startswith("systemctl"))


def test_a_node_with_a_rail_too_few_does_not_join(machine):
    (machine.root / "sys/class/infiniband/rdmap7").rmdir()
    machine.run("setup.sh")
    assert machine.outcome.returncode == 1
    assert "32 EFA interfaces are designed, the kernel shows 31" in machine.outcome.stderr
    assert not any("slurmd" in call for call in machine.calls if call.startswith("systemctl"))


def test_the_first_head_makes_the_munge_key_and_keeps_it(head):
    (head.world / "secret").unlink()
    head.run("setup.sh")
    assert head.outcome.returncode == 0, head.outcome.stderr
    made = (head.root / "etc/munge/munge.key").read_bytes()
    assert len(made) == 128
    head.run("setup.sh")
    assert (head.root / "etc/munge/munge.key").read_bytes() == made
    assert sum(call.startswith("aws secretsmanager put") for call in head.calls) == 1


def test_no_new_key_because_the_old_one_could_not_be_read(head):
    (head.world / "denied").touch()
    head.run("setup.sh")
    assert head.outcome.returncode == 1
    assert "no munge key: AccessDeniedException" in head.outcome.stderr
    assert not any(call.startswith("aws secretsmanager put") for call in head.calls)


def test_a_node_never_makes_the_key(machine):
    (machine.world / "secret").unlink()
    machine.run("setup.sh")
    assert machine.outcome.returncode == 1
    assert not any(call.startswith("aws secretsmanager put") for call in machine.calls)


def test_the_head_runs_the_controller(head):
    head.run("setup.sh")
    assert head.outcome.returncode == 0, head.outcome.stderr
    assert head.read("etc/slurm/gres.conf") == "AutoDetect=off\n"
    assert (head.root / "var/spool/slurmctld").stat().st_mode & 0o777 == 0o700, "it holds the scripts and environments of all jobs"
    assert f"chown slurm {head.root}/var/spool/slurmctld" in head.calls
    assert (head.root / "var/log/slurm").stat().st_mode & 0o777 == 0o755
    assert not (head.root / "var/spool/slurmd").exists()
    assert f"chown slurm {head.root}/var/log/slurm" in head.calls
    assert "systemctl restart munge slurmctld" in head.calls
    assert (head.root / "fsx").stat().st_mode & 0o7777 == 0o1777, "users write to the file system"


def test_a_new_slurm_conf_reaches_the_controller_once(head):
    head.run("setup.sh")
    (head.world / "systemctl").touch()  # slurmctld is active
    head.run("sync.sh")
    assert "scontrol reconfigure" not in head.calls
    conf = head.world / "bucket/slurm/slurm.conf"
    conf.write_text(conf.read_text() + "# gpu0004\n")
    head.run("sync.sh").run("sync.sh")
    assert head.outcome.returncode == 0, head.outcome.stderr
    assert head.read("etc/slurm/slurm.conf").endswith("# gpu0004\n")
    assert head.calls.count("scontrol reconfigure") == 1


def test_a_machine_waits_for_its_name_until_all_others_are_made(machine):
    """Terraform writes the names of a site when its last machine runs: an hour after the first, where there are many."""
    (machine.world / "late").write_text("400\n")
    machine.run("setup.sh", patience=True)
    assert machine.outcome.returncode == 0, machine.outcome.stderr
    assert "systemctl restart munge slurmd" in machine.calls


def test_a_machine_asks_for_the_key_when_the_head_has_its_name(machine):
    machine.run("setup.sh")
    calls = machine.calls
    key = next(i for i, call in enumerate(calls) if "get-secret-value" in call)
    assert "getent hosts head0001.c.internal" in calls[:key]


def test_the_state_of_the_controller_is_as_private_as_ansible_makes_it():
    tasks = (data_folder("templates") / "ansible/static/roles/slurm/tasks/main.yml").read_text()
    (task,) = [block for block in tasks.split("\n\n") if "slurm_state_folder" in block]
    assert 'mode: "0700"' in task


@pytest.mark.parametrize(("pool", "says"), [("gpu", "NCCL_DEBUG=INFO\n"), ("other", None)])
def test_pools_that_differ_have_each_its_own_settings_of_nccl(machine, pool, says):
    shutil.rmtree(machine.world / "bucket/nccl")
    shutil.rmtree(machine.root / "opt/cluster/nccl")
    (machine.world / "bucket/nccl/gpu").mkdir(parents=True)
    (machine.world / "bucket/nccl/gpu/nccl.conf").write_text("NCCL_DEBUG=INFO\n")
    machine.tag(Pool=pool)
    machine.run("setup.sh")
    assert machine.outcome.returncode == 0, machine.outcome.stderr
    conf = machine.root / "etc/nccl.conf"
    assert (conf.read_text() if conf.exists() else None) == says


def test_a_login_node_has_slurms_commands_and_no_daemon(machine):
    machine.tag(Name="login0001", Role="login", EfaInterfaces="0")
    shutil.rmtree(machine.root / "sys" / "class" / "infiniband")
    machine.run("setup.sh")
    assert machine.outcome.returncode == 0, machine.outcome.stderr
    assert "systemctl restart munge" in machine.calls
    assert (machine.root / "etc/slurm/slurm.conf").is_file()
