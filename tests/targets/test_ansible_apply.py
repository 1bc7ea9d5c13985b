"""The roles run for real, on overlays of this machine's own root: they do what they say, and a second run changes nothing.

Syntax check and lint pass roles that stop in their first task; only this finds them. Everything happens in namespaces of its
own: no network but loopback, no process that outlives the run, no file outside its memory (``apply.sh`` and ``vars.yml`` in
``tests/cases/ansible/apply``). What no Debian package holds, drivers and Lustre, is written as files and not installed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

from iacgen.pipeline import run
from iacgen.targets import ansible, fabric, nccl, slurm
from iacgen.verify import programs

CASES = Path(__file__).parents[1] / "cases" / "ansible"
APPLY = CASES / "apply"
# Not secret and not random, so that every run is the same; bytes that are no text, as a real key has.
KEY = hashlib.shake_256(b"a key for a rehearsal").digest(128)
ROLES = sorted(path.name for path in (Path(__file__).parents[2] / "templates/ansible/static/roles").iterdir())

pytestmark = [pytest.mark.judge("ansible", "slurm-22.05"), pytest.mark.xdist_group("ansible-apply")]


def why_not():
    """What this machine lacks, if anything: its own root is the root of the rehearsal's hosts."""
    if os.geteuid() != 0:
        return "needs root, for chroot and namespaces"
    for program in ("unshare", "chroot", "systemctl", "ss"):
        if shutil.which(program) is None:
            return f"needs {program}"
    if subprocess.run(["/usr/bin/python3", "-c", "import apt"], capture_output=True).returncode:
        return "needs Debian's python3 with python3-apt, which Ansible's apt module imports"
    if programs.find("slurm-22.05").companion:
        return "needs Slurm 22.05 on the machine itself"
    return None


@cache
def tree():
    state = run((CASES / "rehearsal.yaml").read_text(), "rehearsal.yaml")
    assert state.project, state.findings
    return ansible.render(state.project) | fabric.render(state.project) | slurm.render(state.project) | nccl.render(state.project)


def rehearse(folder, playbook, rounds, *hosts):
    """Write the tree, run the playbook, return the folder of its results."""
    if why := why_not():
        pytest.skip(why)
    for path, text in tree().items():
        (folder / "cluster" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "cluster" / path).write_text(text)
    results = folder / "results"
    results.mkdir()
    environment = os.environ | {
        "IACGEN_ANSIBLE_BIN": str(programs.find("ansible").path),
        "IACGEN_MUNGE_KEY_B64": base64.b64encode(KEY).decode(),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [APPLY / "apply.sh", folder / "cluster", "hall", results, str(playbook), str(rounds), *hosts],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (results / "listening.txt").read_text() == ""
    assert (results / "left.txt").read_text() == ""
    return results


def recap(said):
    """Host → counts of the last lines of a run."""
    return {host: dict((k, int(v)) for k, v in re.findall(r"(\w+)=(\d+)", counts)) for host, counts in re.findall(r"^(\w+) +: (ok=.*)$", said, re.MULTILINE)}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return rehearse(tmp_path_factory.mktemp("apply"), "site.yml", 2, "gpu0001", "mds0001")


def test_the_first_run_does_it(results):
    said = (results / "1.txt").read_text()
    counts = recap(said)
    assert counts.keys() == {"gpu0001", "mds0001"}, said[-3000:]
    for host in counts:
        assert (counts[host]["failed"], counts[host]["unreachable"]) == (0, 0), said[-3000:]
        assert counts[host]["changed"] > 20
    assert "[WARNING]" not in said and "DEPRECATION" not in said
    assert {f"[{role} : " for role in ROLES} <= set(re.findall(r"\[\w+ : ", said))


def test_the_second_run_changes_nothing(results):
    said = (results / "2.txt").read_text()
    changed = re.findall(r"^TASK \[(.*?)\].*?$(?:(?!^TASK).)*?^changed:", said, re.MULTILINE | re.DOTALL)
    assert {host: (c["changed"], c["failed"]) for host, c in recap(said).items()} == {"gpu0001": (0, 0), "mds0001": (0, 0)}, changed


def test_the_key_arrives_and_is_told_to_nobody(results):
    for host in ("gpu0001", "mds0001"):
        key = results / host / "etc/munge/munge.key"
        assert key.read_bytes() == KEY
        assert stat.S_IMODE(key.stat().st_mode) == 0o400
        assert key.owner() == "munge"
    for said in (results / "1.txt", results / "2.txt"):
        assert KEY not in said.read_bytes()
        assert base64.b64encode(KEY)[:40] not in said.read_bytes()


def test_files_of_the_tree_arrive_byte_for_byte(results):
    for host in ("gpu0001", "mds0001"):
        for name in ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf"):
            assert (results / host / "etc/slurm" / name).read_text() == tree()[f"slurm/{name}"]
    assert (results / "gpu0001/etc/nccl.conf").read_text() == tree()["nccl/nccl.conf"]


def test_what_a_gpu_host_gets(results):
    etc = results / "gpu0001/etc"
    names = yaml.safe_load((etc / "netplan/71-cluster-roce.yaml").read_text())["network"]["ethernets"]
    assert len(names) == 8 and names["enp24s0np0"]["mtu"] == 9000
    assert stat.S_IMODE((etc / "netplan/70-cluster-ipoib.yaml").stat().st_mode) == 0o600
    assert "What=10.33.0.1@o2ib:10.33.0.2@o2ib:/scratch\n" in (etc / "systemd/system/mnt-fast\\x2dscratch.mount").read_text()
    assert (etc / "systemd/system/slurmd.service.requires/mnt-fast\\x2dscratch.mount").is_symlink()
    assert yaml.safe_load((etc / "lnet.conf").read_text())["net"][0]["net type"] == "o2ib"
    assert "10.16.0.1 gpu0001 gpu0001.rehearsal.internal\n" in (etc / "hosts").read_text()
    assert (etc / "modules-load.d/nvidia-cluster.conf").read_text().split()[-3:] == ["nvidia", "nvidia_uvm", "nvidia_peermem"]
    script = results / "gpu0001/usr/local/sbin/roce-lossless"
    assert subprocess.run(["sh", "-n", script], capture_output=True, text=True).stderr == ""


def test_what_a_server_gets(results):
    etc = results / "mds0001/etc"
    assert "sm_priority 14\n" in (etc / "opensm/storage.conf").read_text()
    assert "Default=0x7fff,ipoib,mtu=5: ALL=full, ALL_SWITCHES=full, SELF=full;" in (etc / "opensm/storage-partitions.conf").read_text()
    assert (etc / "systemd/system/multi-user.target.wants/opensm-fabric@storage.service").is_symlink()
    # Both targets of the pair: its own, and the partner's to take over by hand.
    assert sorted(path.name for path in (etc / "systemd/system").glob("lustre-*.mount")) == ["lustre-scratch\\x2dMDT0000.mount", "lustre-scratch\\x2dMDT0001.mount"]
    assert (etc / "hostname").read_text() == "mds0001\n"


def test_the_machine_itself_is_untouched(results):
    assert "written by iacgen" not in Path("/etc/hosts").read_text()
    for path in ("/etc/opensm/storage.conf", "/etc/lnet.conf", "/usr/local/sbin/roce-lossless", "/etc/sysctl.d/90-cluster.conf"):
        assert not Path(path).exists()


def test_only_a_blank_device_is_formatted_and_only_when_allowed(tmp_path):
    said = (rehearse(tmp_path, APPLY / "format.yml", 1, "mds0001") / "1.txt").read_text()
    assert dict(re.findall(r"msg: CASE (\S+) (.+)$", said, re.MULTILINE)) == {
        "not-allowed": "Ask before a blank device is formatted",
        "blank": "accepted",
        "second-host": "accepted",
        "registered": "accepted",
        "new": "accepted",
        "neighbour": "Check that it is blank or this very target",
        "unlabelled": "Check that it is blank or this very target",
        "partitioned": "Check that it is blank or this very target",
        "absent": "Check that it is a block device",
    }
    assert json.loads(re.search(r"FORMATTED (\[.*\])", said)[1]) == ["--mdt --fsname=scratch --index=1 /dev/mapper/blank"]
