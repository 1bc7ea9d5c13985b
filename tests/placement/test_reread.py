"""The order in its files: what each launcher would make of them, and every mistake that they can hold."""

from __future__ import annotations

import os
import random
import subprocess

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from iacgen.pipeline import run
from iacgen.placement.reread import of_slurm, reread
from iacgen.paths import data_folder
from iacgen.render.order import order_files
from iacgen.targets import launchers, slurm

HOSTS = ("gpu0007", "gpu0002", "gpu0011", "gpu0001")
POOL = tuple(f"gpu{n:04d}" for n in range(1, 13))
FILES = order_files("pretrain", HOSTS, 8, [f"{n * 7}-{n * 7 + 6}" for n in range(8)])


def test_every_file_says_the_order():
    assert reread(FILES, 8, POOL) == (HOSTS, [])
    for name, text in FILES.items():
        assert name.endswith(".sbatch") or reread({name: text}, 8, POOL) == (HOSTS, [])


@given(st.permutations(POOL).flatmap(lambda some: st.integers(1, 12).map(lambda n: tuple(some[:n]))), st.integers(1, 16))
def test_any_order_comes_back(hosts, slots):
    assert reread(order_files("job", hosts, slots), slots, POOL) == (hosts, [])


def test_the_files_of_a_cluster_agree():
    """Those that generate writes for its jobs, their folders and scripts included."""
    project = run((data_folder("blueprints") / "superpod-h100.yaml").read_text(), "superpod").project
    tree = slurm.render(project) | launchers.render(project)
    for name, placement in project.placements.items():
        files = {path: text for path, text in tree.items() if path.startswith((f"training/{name}/", f"slurm/{name}."))}
        assert len(files) >= 6
        assert reread(files, 8, project.design.pools["gpu"].hosts) == (placement.hosts, [])


MISTAKES = {
    "a host twice": ("hostfile", "gpu0002 slots=8", "gpu0007 slots=8", "gpu0007: not 8 ranks each"),
    "too few slots": ("hostfile", "gpu0002 slots=8", "gpu0002 slots=7", "gpu0002: not 8 ranks each"),
    "far too many slots": ("hostfile", "gpu0002 slots=8", "gpu0002 slots=800000000", "gpu0002: not 8 ranks each"),
    "a busy host": ("hostfile", "gpu0002 slots=8", "gpu0099 slots=8", "gpu0099: not among the idle hosts of the pool"),
    "no slots": ("hostfile", "gpu0002 slots=8", "gpu0002", "line 2: 'gpu0002' is not of the form"),
    "a comment": ("hostfile", "gpu0007 slots=8\n", "# four hosts\ngpu0007 slots=8\n", "line 1: '# four hosts' is not of the form"),
    "no last line end": ("hostfile", "gpu0001 slots=8\n", "gpu0001 slots=8", "the last one too"),
    "a rank twice": ("rankfile", "rank 9=", "rank 8=", "the ranks are not 0 to 31, each once"),
    "a gap in the ranks": ("rankfile", "rank 31=", "rank 32=", "the ranks are not 0 to 31, each once"),
    "local ranks in each other's place": ("rankfile", "rank 8=gpu0002 slot=0-6", "rank 8=gpu0002 slot=7-13", "rank 8 has slot 7-13, and local rank 0 has 0-6 elsewhere"),
    "a bracket": ("pretrain.ranks", "gpu0007\n" * 8, "gpu0007\n" * 7 + "gpu[0007]\n", "'gpu[0007]' is not of the form"),
    "a line too many": ("pretrain.ranks", "gpu0001\n" * 8, "gpu0001\n" * 9, "gpu0001: not 8 ranks each"),
    "a carriage return": ("pretrain.ranks", "gpu0007\n" * 8, "gpu0007\r\n" * 8, "line feed alone"),
    "two nodes of one number": ("node-ranks", "gpu0002 1", "gpu0002 0", "the nodes are not numbered 0 to 3"),
    "two nodes changed over": ("node-ranks", "gpu0007 0\ngpu0002 1\n", "gpu0002 0\ngpu0007 1\n", "node-ranks: rank 0 is not where hostfile has it"),
    "an index twice": ("indexes.csv", "1,gpu0002,8,15", "0,gpu0002,0,7", "the nodes are not numbered 0 to 3"),
    "ranks of another index": ("indexes.csv", "1,gpu0002,8,15", "1,gpu0002,16,23", "index 1 has the ranks 16 to 23"),
    "an index without a number": ("indexes.csv", "1,gpu0002,8,15", "x,gpu0002,8,15", "'x' is no number"),
    "another master": ("indexed-job.yaml", "value: gpu0007", "value: gpu0002", "indexed-job.yaml: MASTER_ADDR is gpu0002, and rank 0 sits on gpu0007"),
    "a node that is not in the table": ("indexed-job.yaml", "- gpu0002\n", "- gpu0003\n", "the nodes of the affinity are not those of the table"),
    "a master that is fixed": ("pretrain.sbatch", 'MASTER_ADDR=$(head -n 1 "$ranks")', "MASTER_ADDR=gpu0001", "pretrain.sbatch: MASTER_ADDR is gpu0001"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told(mistake):
    name, old, new, says = MISTAKES[mistake]
    assert FILES[name].count(old) == 1
    _, findings = reread(FILES | {name: FILES[name].replace(old, new)}, 8, POOL)
    assert {f.id for f in findings} == {"IAC405"}
    assert any(says in f.message for f in findings), [f.message for f in findings]


def test_ranks_dealt_out_host_by_host_mix_the_rails():
    """Round-robin over the hosts: each has eight ranks, but rank 1 is local rank 0 of another host."""
    dealt = "".join(f"{host}\n" for _ in range(8) for host in HOSTS)
    assert of_slurm("x.ranks", dealt, 8).local[:5] == (0, 0, 0, 0, 1)
    hosts, (finding,) = reread({"x.ranks": dealt}, 8, POOL)
    assert finding.message == "x.ranks: rank 1 is local rank 0 on gpu0002, and not number 1 of the ranks of one host: rails would mix"


def test_an_order_of_a_file_alone_is_not_the_order_of_another():
    other = order_files("pretrain", HOSTS[::-1], 8)
    _, findings = reread(FILES | {"pretrain.ranks": other["pretrain.ranks"]}, 8, POOL)
    assert [f.message for f in findings] == ["pretrain.ranks: rank 0 is not where hostfile has it"]


def test_no_order_at_all_is_told():
    assert [f.message for f in reread({"README.md": "x"}, 8, POOL)[1]] == ["no file of them has an order"]


@given(st.sampled_from(sorted(FILES)), st.integers(0, 5000), st.integers(0, 4), st.text(alphabet="\x00\n\r #=[],-:\\\"x9é", max_size=3))
def test_no_damage_stops_the_reading(file, at, cut, put):
    text = FILES[file]
    at %= len(text)
    hosts, findings = reread(FILES | {file: text[:at] + put + text[at + cut :]}, 8, POOL)
    assert all(f.severity == "error" for f in findings) and isinstance(hosts, tuple)


def test_an_order_of_98304_ranks_is_read():
    hosts = [f"gpu{n:05d}" for n in range(12288)]
    random.Random(6).shuffle(hosts)
    assert reread(order_files("large", hosts, 8), 8, set(hosts)) == (tuple(hosts), [])


def test_the_manifest_is_a_job_of_one_pod_a_node():
    """batch/v1 and v1 of the Kubernetes reference: an Indexed Job with as many completions as nodes, each of which is a node alone."""
    table, job = yaml.safe_load_all(FILES["indexed-job.yaml"])
    assert (table["apiVersion"], table["kind"], job["apiVersion"], job["kind"]) == ("v1", "ConfigMap", "batch/v1", "Job")
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"], pod["restartPolicy"]) == ("Indexed", 4, 4, "Never")
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(HOSTS)}]
    (volume,) = [v for v in pod["volumes"] if v["name"] == "node-ranks"]
    assert volume["configMap"]["name"] == table["metadata"]["name"]
    assert [line.split() for line in table["data"]["node-ranks"].splitlines()] == [[host, str(n)] for n, host in enumerate(HOSTS)]
    (container,) = pod["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == 8


def test_a_pod_takes_the_rank_of_the_node_that_it_came_to(tmp_path):
    """The command of the manifest, run by a real shell with what stands in for torchrun."""
    table, job = yaml.safe_load_all(FILES["indexed-job.yaml"])
    (container,) = job["spec"]["template"]["spec"]["containers"]
    (tmp_path / "node-ranks").write_text(table["data"]["node-ranks"])
    (tmp_path / "torchrun").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "torchrun").chmod(0o755)
    command = [word.replace("/etc/iacgen/", f"{tmp_path}/") for word in container["command"]]
    fixed = {e["name"]: e["value"] for e in container["env"] if "value" in e}
    for rank, host in enumerate(HOSTS):
        env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "NODE_NAME": host, **fixed}
        words = subprocess.run([*command, *container["args"]], env=env, capture_output=True, text=True, check=True, timeout=60).stdout.split()
        assert {f"--node-rank={rank}", "--nnodes=4", "--nproc-per-node=8", "--master-addr=gpu0007"} < set(words) and words[-1] == "train.py"
    stranger = subprocess.run(command, env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "NODE_NAME": "gpu0099", **fixed}, capture_output=True, text=True, timeout=60)
    assert (stranger.returncode, stranger.stdout) == (1, "")
